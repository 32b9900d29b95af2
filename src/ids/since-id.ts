import { lowBits, type SnowflakeLayout } from './snowflake.ts';

/**
 * The since_id for the next poll by the published remedy: the ids of `kMs` before the last request was sent, never above
 * `latestId` and never more than `kMs` below it. `latestId` is the highest id ever seen, `retrievedAtMs` Unix ms in server time.
 * Fractions are rounded to the side that re-reads. @see tesaguri, "Your Timelines Are Leaky"
 * @throws RangeError for a `latestId` that is no decimal, a negative `kMs`, and times that are no finite numbers.
 */
export function sinceIdByRetrievedAt(
  layout: SnowflakeLayout,
  from: { latestId: string; retrievedAtMs: number; kMs: number },
): string {
  const latest = decimal(from.latestId);
  const k = overlap(from.kMs);
  const sent = BigInt(Math.floor(from.retrievedAtMs)) - k - BigInt(layout.epochMs);
  const wanted = ((sent > 0n ? sent : 0n) << lowBits(layout)) - 1n;
  const lower = lowerBound(layout, latest, k);
  return String(wanted < lower ? lower : wanted > latest ? latest : wanted);
}

/**
 * The published lower bound alone: `kMs` of id time below `latestId`, exclusive. An id whose time does not exceed `kMs`
 * is given back as it is (the overflow guard). Throws as `sinceIdByRetrievedAt` does.
 */
export function sinceIdBelowLatest(layout: SnowflakeLayout, from: { latestId: string; kMs: number }): string {
  return String(lowerBound(layout, decimal(from.latestId), overlap(from.kMs)));
}

function lowerBound(layout: SnowflakeLayout, latest: bigint, k: bigint): bigint {
  const shift = lowBits(layout);
  const timestamp = latest >> shift;
  return timestamp <= k ? latest : ((timestamp - k) << shift) - 1n;
}

function overlap(kMs: number): bigint {
  if (!(kMs >= 0)) throw new RangeError(`kMs must be at least 0, got ${kMs}`);
  return BigInt(Math.ceil(kMs));
}

function decimal(id: string): bigint {
  if (!/^(0|[1-9][0-9]{0,19})$/.test(id)) throw new RangeError('latestId must be a decimal id');
  return BigInt(id);
}
