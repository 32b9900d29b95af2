import { IdsUnavailableError } from '../errors.ts';
import { CECOCHAT, lowestId } from './snowflake.ts';

/** Ids of one generator, in CecoChat's layout. */
export interface IdGenerator {
  /** The next id, a decimal above all before. @throws IdsUnavailableError when the clock does not allow it; nothing is used up then. */
  next(): string;
  /** 2 to 16,384 ids at once, ascending, above all before. All or none: throws as `next` does, RangeError for another count. */
  batch(count: number): readonly string[];
}

const IDS_PER_MS = 2 ** CECOCHAT.sequenceBits;
const GENERATORS = 2 ** CECOCHAT.generatorBits;

/**
 * Issues strictly increasing ids without ever waiting. A full sequence borrows from the next ms, at most `maxBorrowMs` ahead
 * (default 1,000); a clock that steps back by up to `toleranceMs` (default 1,000) keeps logical time, beyond it ids are refused.
 * `generator` is 0 to 255 and must be nobody else's; `now` gives Unix ms.
 * @throws RangeError for another generator or negative bounds.
 */
export function createIdGenerator(options: {
  generator: number;
  now: () => number;
  toleranceMs?: number | undefined;
  maxBorrowMs?: number | undefined;
  /** Ids up to this ms (Unix) may have been issued before, by whoever had the number: the first one lies above. */
  afterMs?: number | undefined;
  /** No id lies above this ms, which may grow. */
  untilMs?: (() => number) | undefined;
}): IdGenerator {
  const { generator, now, toleranceMs = 1000, maxBorrowMs = 1000, afterMs = 0, untilMs } = options;
  if (!Number.isInteger(generator) || generator < 0 || generator >= GENERATORS) {
    throw new RangeError(`generator must be 0 to ${GENERATORS - 1}, got ${generator}`);
  }
  if (!(toleranceMs >= 0 && maxBorrowMs >= 0)) throw new RangeError('toleranceMs and maxBorrowMs must be at least 0');

  let highestClockMs = Number.NEGATIVE_INFINITY;
  let lastMs = Math.max(CECOCHAT.epochMs - 1, afterMs);
  let used = IDS_PER_MS;

  const take = (count: number): readonly string[] => {
    const clockMs = Math.floor(now());
    if (!(clockMs >= CECOCHAT.epochMs))
      throw new IdsUnavailableError(`the clock must be past 2021-01-01, got ${clockMs}`);
    if (clockMs < highestClockMs - toleranceMs) {
      throw new IdsUnavailableError(
        `the clock stepped back ${highestClockMs - clockMs} ms, at most ${toleranceMs} are tolerated`,
      );
    }
    const fresh = clockMs > lastMs;
    const firstMs = fresh ? clockMs : lastMs;
    const firstSequence = fresh ? 0 : used;
    const endMs = firstMs + Math.floor((firstSequence + count - 1) / IDS_PER_MS);
    const allowedMs = Math.min(
      Math.max(clockMs, highestClockMs) + maxBorrowMs,
      untilMs?.() ?? Number.POSITIVE_INFINITY,
    );
    if (endMs > allowedMs)
      throw new IdsUnavailableError(
        `no ids are left before ${new Date(allowedMs).toISOString()}, ask again later`,
        endMs,
      );
    const ids = issue(firstMs, firstSequence, count);
    highestClockMs = Math.max(clockMs, highestClockMs);
    used = firstSequence + count - (endMs - firstMs) * IDS_PER_MS;
    lastMs = endMs;
    return ids;
  };

  const issue = (firstMs: number, firstSequence: number, count: number): readonly string[] => {
    const ids: string[] = [];
    for (let ms = firstMs, sequence = firstSequence; ids.length < count; ms += 1, sequence = 0) {
      if (sequence >= IDS_PER_MS) continue;
      const lowest = ownLowest(ms, generator);
      for (; sequence < IDS_PER_MS && ids.length < count; sequence += 1) ids.push(String(lowest + BigInt(sequence)));
    }
    return ids;
  };

  return {
    next: () => take(1)[0] ?? '',
    batch(count) {
      if (!Number.isInteger(count) || count < 2 || count > IDS_PER_MS) {
        throw new RangeError(`a batch must have 2 to ${IDS_PER_MS} ids, got ${count}`);
      }
      return take(count);
    },
  };
}

/** Beyond 2090 the layout has no time left. */
function ownLowest(ms: number, generator: number): bigint {
  try {
    return BigInt(lowestId(CECOCHAT, ms)) + BigInt(generator * IDS_PER_MS);
  } catch {
    throw new IdsUnavailableError(`the clock is beyond the layout's last ms: ${ms}`);
  }
}
