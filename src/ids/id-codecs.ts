const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** An alphabet's strings and the whole numbers that they stand for, in the same order. */
export interface IdCodec {
  /** The number, from 0; undefined for a text of another form. */
  parse(id: string): bigint | undefined;
  /** The id of the number, or of the nearest number below it which has one. */
  print(value: bigint): string;
  /** The highest number that has an id. */
  readonly highest: bigint;
}

/** Decimals without leading zeros, from 1 (0 is printed, as a bound below all ids) to 2^63 - 1. */
export const decimalCodec: IdCodec = {
  parse: (id) => (/^[1-9][0-9]{0,18}$/.test(id) ? upTo(2n ** 63n - 1n, BigInt(id)) : undefined),
  print: String,
  highest: 2n ** 63n - 1n,
};

/** 26 characters of Crockford's base 32, upper case: 48 bits of Unix ms, 80 random bits. @see https://github.com/ulid/spec */
export const ulidCodec: IdCodec = {
  parse: (id) => (/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id) ? fromAlphabet(CROCKFORD, id) : undefined),
  print: (value) => toAlphabet(CROCKFORD, value, 26),
  highest: 2n ** 128n - 1n,
};

/** UUID version 7 in lower case; the number leaves out version and variant, so 48 bits of Unix ms and 74 random ones. @see RFC 9562, 5.7 */
export const uuidv7Codec: IdCodec = {
  parse(id) {
    const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/.exec(id);
    if (match === null) return undefined;
    const high = BigInt(`0x${match[1]}${match[2]}${match[3]}`);
    return (high << 62n) | BigInt.asUintN(62, BigInt(`0x${match[4]}${match[5]}`));
  },
  print(value) {
    const high = (value >> 62n).toString(16).padStart(15, '0');
    const low = ((0b10n << 62n) | BigInt.asUintN(62, value)).toString(16);
    return `${high.slice(0, 8)}-${high.slice(8, 12)}-7${high.slice(12)}-${low.slice(0, 4)}-${low.slice(4)}`;
  },
  highest: 2n ** 122n - 1n,
};

const FLAKE_LOWEST = 2n ** 64n;
/** A legacy id of 18 digits would look like a flake. */
const LEGACY_HIGHEST = 10n ** 17n - 1n;

/**
 * Pleroma's flakes: 18 characters of base 62, the top 64 of 128 bits are Unix ms (18 characters last until 2285).
 * Posts from before are plain decimals, below all flakes.
 */
export const flakeCodec: IdCodec = {
  parse(id) {
    if (/^[1-9][0-9]{0,16}$/.test(id)) return BigInt(id);
    if (!/^[0-9A-Za-z]{18}$/.test(id)) return undefined;
    const value = fromAlphabet(BASE62, id);
    return value < FLAKE_LOWEST ? undefined : value;
  },
  print(value) {
    if (value >= FLAKE_LOWEST) return toAlphabet(BASE62, value, 18);
    return String(value < LEGACY_HIGHEST ? value : LEGACY_HIGHEST);
  },
  highest: 62n ** 18n - 1n,
};

function upTo(highest: bigint, value: bigint): bigint | undefined {
  return value <= highest ? value : undefined;
}

function fromAlphabet(alphabet: string, text: string): bigint {
  const base = BigInt(alphabet.length);
  let value = 0n;
  for (const character of text) value = value * base + BigInt(alphabet.indexOf(character));
  return value;
}

function toAlphabet(alphabet: string, value: bigint, length: number): string {
  const base = BigInt(alphabet.length);
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = alphabet.charAt(Number(rest % base)) + text;
  return text;
}
