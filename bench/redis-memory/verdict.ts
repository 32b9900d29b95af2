import type { InstanceBytes } from './instance-bytes.ts';
import { IDS_1H, JSON_1H, OURS, type Result } from './variants.ts';

const MAX_INSTANCE_BYTES = 5600;
const MAX_BESIDE_JSON = 0.2;
/** Of an instance's life: beyond it what was measured is the machine, not the way of keeping. */
const MAX_LATE = 0.1;

export interface Claim {
  readonly says: string;
  readonly holds: boolean;
}

/** What must hold, and whether it does. */
export function claimsOf(results: readonly Result[], each: InstanceBytes): readonly Claim[] {
  const find = (name: string) => results.find(({ variant }) => variant.name === name);
  const [ours, json, ids] = [find(OURS), find(JSON_1H), find(IDS_1H)];
  if (!ours || !json || !ids) throw new Error('a variant is missing');
  const claims: Claim[] = [
    {
      says: `an instance of 500 items with reasons, every key of it: ${Math.round(each.all)} bytes, at most ${MAX_INSTANCE_BYTES}`,
      holds: each.all <= MAX_INSTANCE_BYTES,
    },
  ];
  for (const [by, of] of [
    ['keys', (result: Result) => result.mean],
    ['used_memory', (result: Result) => result.used],
  ] as const) {
    const besideJson = of(ours) / of(json);
    const besideIds = of(ours) / of(ids);
    claims.push(
      {
        says: `by ${by}, Sluice takes ${besideJson.toFixed(3)} of "${JSON_1H}", at most ${MAX_BESIDE_JSON}`,
        holds: besideJson <= MAX_BESIDE_JSON,
      },
      { says: `by ${by}, Sluice takes ${besideIds.toFixed(3)} of "${IDS_1H}", below 1`, holds: besideIds < 1 },
    );
  }
  const { laterPages, dead, repeated } = ours.day;
  claims.push({
    says: `Sluice: of ${laterPages} later pages ${dead} ended dead, ${repeated} repeated a story; none may`,
    holds: laterPages > 0 && dead === 0 && repeated === 0,
  });
  for (const result of results.filter(isLate)) claims.push({ says: tooSlow(result), holds: false });
  return claims;
}

/** The machine was too slow for what was asked of it. */
export function isLate(result: Result): boolean {
  return result.day.lateMs > mayBeLateMs(result);
}

function mayBeLateMs({ variant, factor }: Result): number {
  return (MAX_LATE * variant.ttlMs) / factor;
}

function tooSlow(result: Result): string {
  const [late, may] = [result.day.lateMs, mayBeLateMs(result)].map(Math.round);
  return `"${result.variant.name}": requests began up to ${late} ms late (p99), at most ${may} ms may be: the machine was too slow for these figures`;
}
