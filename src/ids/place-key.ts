/** Hex digits of one level of a place key. */
const LEVEL_LENGTH = 16;
/** The key of a post that was placed by itself: `1` and 32 hex digits. @see id-scheme.ts */
const BASE_LENGTH = 33;
/** So many keys fit below one another before a level is full. */
const STEP = 2n ** 32n;
const LEVEL_SIZE = 2n ** 64n;
/** Characters. Whoever makes posts appear at one place for ever gets equal keys in the end. */
const MAX_LENGTH = 300;

/**
 * `count` order keys between two others, lowest first: that of the nearest neighbour below and a suffix. `upper` absent: as
 * high as it may be right above `lower`. Keys sort by ASCII, a longer one after its prefix. Where nothing fits any more, `lower` itself.
 */
export function placesBetween(lower: string, upper: string | undefined, count: number): readonly string[] {
  const room = roomBetween(lower, upper, BigInt(count));
  if (room.prefix.length + LEVEL_LENGTH > MAX_LENGTH) return Array.from({ length: count }, () => lower);
  const even = (room.to - room.from) / BigInt(count + 1);
  const step = even < STEP ? even : STEP;
  // From above: what is read later lies below, and needs the rest.
  return Array.from({ length: count }, (_, n) => room.prefix + hex(room.to - step * BigInt(count - n)));
}

interface Room {
  readonly prefix: string;
  /** Both left out. */
  readonly from: bigint;
  readonly to: bigint;
}

/** The level on which there is room for so many: that of `lower` itself if it has one, else one below it. */
function roomBetween(lower: string, upper: string | undefined, count: bigint): Room {
  if (lower.length > BASE_LENGTH) {
    const prefix = lower.slice(0, -LEVEL_LENGTH);
    const own = levelOf(lower, prefix) ?? 0n;
    const room = { prefix, from: own, to: levelOf(upper, prefix) ?? LEVEL_SIZE };
    if (room.to - room.from > count) return room;
  }
  const to = levelOf(upper, lower) ?? LEVEL_SIZE;
  if (to > count) return { prefix: lower, from: 0n, to };
  return roomBetween(lower + hex(0n), upper, count);
}

/** The number after that prefix; undefined where the key goes another way. */
function levelOf(key: string | undefined, prefix: string): bigint | undefined {
  if (!key?.startsWith(prefix) || key.length < prefix.length + LEVEL_LENGTH) return undefined;
  return BigInt(`0x${key.slice(prefix.length, prefix.length + LEVEL_LENGTH)}`);
}

function hex(value: bigint): string {
  return value.toString(16).padStart(LEVEL_LENGTH, '0');
}
