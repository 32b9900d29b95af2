/**
 * How a 64-bit id is put together: time since the epoch in the high bits, then the generator, then the sequence.
 * `generatorBits` may be 0.
 */
export interface SnowflakeLayout {
  /** Unix ms of time 0. */
  readonly epochMs: number;
  readonly timeBits: number;
  readonly generatorBits: number;
  readonly sequenceBits: number;
}

/** @see https://github.com/twitter-archive/snowflake/tree/snowflake-2010 */
export const TWITTER: SnowflakeLayout = { epochMs: 1288834974657, timeBits: 41, generatorBits: 10, sequenceBits: 12 };

/** Unix ms, then 16 bits that are arbitrary inside one ms. @see Mastodon's `timestamp_id` */
export const MASTODON: SnowflakeLayout = { epochMs: 0, timeBits: 48, generatorBits: 0, sequenceBits: 16 };

/** 256 generators of 16,384 ids a ms, from 2021-01-01: also the layout of our own ids. */
export const CECOCHAT: SnowflakeLayout = { epochMs: 1609459200000, timeBits: 41, generatorBits: 8, sequenceBits: 14 };

/** Twitter's bits from 2019-02-10. */
export const PIXELFED: SnowflakeLayout = { epochMs: 1549756800000, timeBits: 41, generatorBits: 10, sequenceBits: 12 };

/** The low 22 bits are not told apart. */
export const TAKAHE: SnowflakeLayout = { epochMs: 1641020400000, timeBits: 41, generatorBits: 0, sequenceBits: 22 };

/** The decimal id of these parts. @throws RangeError when a part does not fit into its bits. */
export function encodeSnowflake(
  layout: SnowflakeLayout,
  parts: { timeMs: number; generator?: number | undefined; sequence: number },
): string {
  const time = inBits('timeMs', parts.timeMs - layout.epochMs, layout.timeBits);
  const generator = inBits('generator', parts.generator ?? 0, layout.generatorBits);
  const sequence = inBits('sequence', parts.sequence, layout.sequenceBits);
  return String((time << lowBits(layout)) | (generator << BigInt(layout.sequenceBits)) | sequence);
}

/**
 * The parts of a decimal id; `generator` is undefined in a layout without one. `timeMs` is Unix ms.
 * @throws RangeError for what `encodeSnowflake` would not give.
 */
export function decodeSnowflake(
  layout: SnowflakeLayout,
  id: string,
): { timeMs: number; generator: number | undefined; sequence: number } {
  const value = /^(0|[1-9][0-9]{0,19})$/.test(id) ? BigInt(id) : -1n;
  const time = value >> lowBits(layout);
  if (value < 0n || time >> BigInt(layout.timeBits) !== 0n) throw new RangeError('required a Snowflake id in decimals');
  const { generatorBits, sequenceBits } = layout;
  return {
    timeMs: layout.epochMs + Number(time),
    generator: generatorBits === 0 ? undefined : Number(BigInt.asUintN(generatorBits, value >> BigInt(sequenceBits))),
    sequence: Number(BigInt.asUintN(sequenceBits, value)),
  };
}

/** The lowest id of that ms: with `highestId`, one key answers "from time a to time b". @throws RangeError outside the layout's time. */
export function lowestId(layout: SnowflakeLayout, timeMs: number): string {
  return encodeSnowflake(layout, { timeMs, sequence: 0 });
}

/** The highest id of that ms, inclusive. @throws RangeError outside the layout's time. */
export function highestId(layout: SnowflakeLayout, timeMs: number): string {
  return encodeSnowflake(layout, {
    timeMs,
    generator: 2 ** layout.generatorBits - 1,
    sequence: 2 ** layout.sequenceBits - 1,
  });
}

/** True for a decimal from 1 to 2^63 - 1 without leading zeros: what servers keep in a signed 64-bit column. */
export function isSnowflake(id: string): boolean {
  return /^[1-9][0-9]{0,18}$/.test(id) && BigInt(id) < 2n ** 63n;
}

/** How many bits lie below the time. */
export function lowBits(layout: SnowflakeLayout): bigint {
  return BigInt(layout.generatorBits + layout.sequenceBits);
}

function inBits(name: string, value: number, bits: number): bigint {
  if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** bits) {
    throw new RangeError(`${name} must be a whole number of at most ${bits} bits, got ${value}`);
  }
  return BigInt(value);
}
