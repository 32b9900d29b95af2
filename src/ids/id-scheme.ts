import { createHash } from 'node:crypto';
import type { IdSchemeName } from '../post.ts';
import { decimalCodec, flakeCodec, type IdCodec, ulidCodec, uuidv7Codec } from './id-codecs.ts';
import { lowBits, MASTODON, PIXELFED, type SnowflakeLayout, TAKAHE, TWITTER } from './snowflake.ts';

/** What can be done with the ids of one kind of server. @see upstreams.md, section 4 */
export interface IdScheme {
  readonly name: IdSchemeName;
  /** Absent for schemes that are no Snowflakes. */
  readonly layout?: SnowflakeLayout | undefined;
  /** False for opaque ids: their order is that in which the server lists them. @see place-key.ts */
  readonly isOrdered: boolean;
  /**
   * 33 ASCII characters (`1`, then 32 hex digits) that sort as the ids do. Total: a text of another form gets a key below
   * all ids (`0`, then a digest), so that it never becomes a watermark. Opaque ids all get such a key: use `arrivalOrderKey`.
   */
  orderKey(id: string): string;
  /** When what has that order key, or lies right above it, was made, or first seen where ids are opaque: Unix ms. */
  keyTimeMs(orderKey: string): number | undefined;
  /** An order key with everything from `timeMs` (Unix ms) on above it, and nothing else. */
  floorKey(timeMs: number): string;
  /** The exclusive since_id whose reply still holds the post of that order key, `steps` ids below it; undefined for opaque. */
  idBelow(orderKey: string, steps?: number): string | undefined;
  /** When the id was made, Unix ms; undefined for another form, for opaque ids and for the sequential ids of old posts. */
  timeMs(id: string): number | undefined;
  /**
   * An exclusive since_id in this alphabet and length: every id made at or after `timeMs` (Unix ms) lies above it.
   * A time at or before the scheme's epoch gives its lowest id. Undefined for opaque.
   */
  floor(timeMs: number): string | undefined;
  /** The highest id strictly below, in the same alphabet; undefined for opaque, another form, and the lowest id. */
  justBelow(id: string): string | undefined;
  /** True for an id of this form. Always true for opaque. */
  includes(id: string): boolean;
}

/** The scheme of that name. */
export function idScheme(name: IdSchemeName): IdScheme {
  return SCHEMES[name];
}

/**
 * The scheme of a server, from the name of its software (`mastodon 4.3.1`, `2.7.2 (compatible; Pleroma 2.5)`) and some of
 * its ids. Ids that contradict the name give `opaque`; without a known name only ULIDs and UUIDv7s are unmistakable.
 */
export function recogniseIdScheme(evidence: {
  software?: string | undefined;
  ids?: readonly string[] | undefined;
}): IdSchemeName {
  const ids = evidence.ids ?? [];
  const name = softwareName(evidence.software ?? '');
  if (name !== undefined) {
    const scheme = SOFTWARE.get(name);
    return scheme !== undefined && (ids.length === 0 || fits(SCHEMES[scheme], ids)) ? scheme : 'opaque';
  }
  if (ids.length === 0) return 'opaque';
  return (['ulid', 'uuidv7'] as const).find((candidate) => fits(SCHEMES[candidate], ids)) ?? 'opaque';
}

/**
 * The order key of the `n`-th opaque id that was first seen at `arrivedAtMs` (Unix ms): they sort as they were seen.
 * As wide as the other keys. @throws RangeError unless both are whole numbers from 0.
 */
export function arrivalOrderKey(arrivedAtMs: number, n: number): string {
  if (![arrivedAtMs, n].every((part) => Number.isSafeInteger(part) && part >= 0)) {
    throw new RangeError(`an arrival must be two whole numbers from 0, got ${arrivedAtMs} and ${n}`);
  }
  return `1${arrivalDigits(arrivedAtMs)}${arrivalDigits(n)}`;
}

function arrivalDigits(part: number): string {
  return part.toString(16).padStart(16, '0');
}

/** When the opaque id of that order key was first seen, Unix ms. */
export function arrivalMs(orderKey: string): number {
  return Number.parseInt(orderKey.slice(1, 17), 16);
}

/** A scheme whose ids are numbers, with the time in the bits above `timeShift`. */
interface NumberedScheme {
  readonly name: IdSchemeName;
  readonly layout?: SnowflakeLayout | undefined;
  readonly codec: IdCodec;
  readonly timeShift: bigint;
  readonly epochMs: number;
  /** Numbers below hold no time. */
  readonly timedFrom: bigint;
  /** The lowest since_id that the server takes. */
  readonly lowest: bigint;
}

function numbered(spec: NumberedScheme): IdScheme {
  const { name, layout, codec, timeShift, timedFrom, lowest } = spec;
  const timeOf = (value: bigint) => (value < timedFrom ? undefined : spec.epochMs + Number(value >> timeShift));
  const keyOf = (value: bigint) => `1${value.toString(16).padStart(32, '0')}`;
  const floorOf = (timeMs: number) => {
    const value = (BigInt(Math.floor(timeMs) - spec.epochMs) << timeShift) - 1n;
    return value < lowest ? lowest : value < codec.highest ? value : codec.highest;
  };
  return {
    name,
    layout,
    isOrdered: true,
    orderKey(id) {
      const value = codec.parse(id);
      return value === undefined ? foreignKey(id) : keyOf(value);
    },
    keyTimeMs: (orderKey) => (orderKey < '1' ? undefined : timeOf(numberOf(orderKey))),
    floorKey: (timeMs) => keyOf(floorOf(timeMs)),
    idBelow(orderKey, steps = 1) {
      if (orderKey < '1') return undefined;
      const value = numberOf(orderKey) - BigInt(steps);
      return codec.print(value < lowest ? lowest : value);
    },
    timeMs(id) {
      const value = codec.parse(id);
      return value === undefined ? undefined : timeOf(value);
    },
    floor: (timeMs) => codec.print(floorOf(timeMs)),
    justBelow(id) {
      const value = codec.parse(id);
      return value === undefined || value <= lowest ? undefined : codec.print(value - 1n);
    },
    includes: (id) => codec.parse(id) !== undefined,
  };
}

function snowflakes(name: IdSchemeName, layout: SnowflakeLayout, lowest = 0n): IdScheme {
  // Servers older than their Snowflakes counted before: Twitter's last such id is 29,700,859,247.
  const timedFrom = 2n ** 35n;
  return numbered({
    name,
    layout,
    codec: decimalCodec,
    timeShift: lowBits(layout),
    epochMs: layout.epochMs,
    timedFrom,
    lowest,
  });
}

const SCHEMES: Readonly<Record<IdSchemeName, IdScheme>> = {
  mastodon: snowflakes('mastodon', MASTODON),
  // Twitter answers since_id=0 with error 44.
  twitter: snowflakes('twitter', TWITTER, 1n),
  pixelfed: snowflakes('pixelfed', PIXELFED),
  takahe: snowflakes('takahe', TAKAHE),
  flake: numbered({ name: 'flake', codec: flakeCodec, timeShift: 64n, epochMs: 0, timedFrom: 2n ** 64n, lowest: 0n }),
  ulid: numbered({ name: 'ulid', codec: ulidCodec, timeShift: 80n, epochMs: 0, timedFrom: 0n, lowest: 0n }),
  uuidv7: numbered({ name: 'uuidv7', codec: uuidv7Codec, timeShift: 74n, epochMs: 0, timedFrom: 0n, lowest: 0n }),
  opaque: {
    name: 'opaque',
    isOrdered: false,
    orderKey: foreignKey,
    keyTimeMs: (orderKey) => (orderKey < '1' ? undefined : arrivalMs(orderKey)),
    floorKey: (timeMs) => `1${arrivalDigits(Math.max(0, Math.floor(timeMs)))}`,
    idBelow: () => undefined,
    timeMs: () => undefined,
    floor: () => undefined,
    justBelow: () => undefined,
    includes: () => true,
  },
};

const SOFTWARE: ReadonlyMap<string, IdSchemeName> = new Map([
  ['mastodon', 'mastodon'],
  ['glitch', 'mastodon'],
  ['hometown', 'mastodon'],
  ['pixelfed', 'pixelfed'],
  ['takahe', 'takahe'],
  ['pleroma', 'flake'],
  ['akkoma', 'flake'],
  ['gotosocial', 'ulid'],
  ['hollo', 'uuidv7'],
  ['twitter', 'twitter'],
]);

function softwareName(software: string): string | undefined {
  const named = /compatible; *([a-z]+)/i.exec(software) ?? /^ *([a-z]+)/i.exec(software);
  return named?.[1]?.toLowerCase();
}

/** 2006-01-01 and 2100-01-01 in Unix ms: ids with times outside are of another scheme. */
const EARLIEST_MS = Date.UTC(2006, 0);
const LATEST_MS = Date.UTC(2100, 0);

/** All have the form, at least one has a time (a page of sequential ids has none to reckon with), and times are plausible. */
function fits(scheme: IdScheme, ids: readonly string[]): boolean {
  if (!ids.every((id) => scheme.includes(id))) return false;
  const times = ids.map((id) => scheme.timeMs(id)).filter((time) => time !== undefined);
  return times.length > 0 && times.every((time) => time >= EARLIEST_MS && time < LATEST_MS);
}

/** What stands in a key's first 33 characters; what follows is a place beside it. */
function numberOf(orderKey: string): bigint {
  return BigInt(`0x${orderKey.slice(1, 33)}`);
}

function foreignKey(id: string): string {
  return `0${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}
