/**
 * Golomb coding of sorted numbers: each distance to the one before is a quotient in unary and a remainder in truncated binary.
 * With a divisor of ln 2 times the mean distance it comes within 1 % of what random numbers can be packed into.
 * @see S. W. Golomb, "Run-Length Encodings", 1966
 */
export interface BitWriter {
  /** Sorted ascending, from 0; repeats are kept. */
  sorted(values: readonly number[], divisor: number): void;
  /** The bits so far, filled up with zeros to whole bytes. */
  take(): Uint8Array;
}

/** Reads what a BitWriter wrote. Both methods throw RangeError when it does not fit. */
export interface BitReader {
  /** `count` numbers, each below `range`. */
  sorted(count: number, divisor: number, range: number): readonly number[];
  /** Refuses what is left over, but for the zeros of the last byte. */
  end(): void;
}

export function createBitWriter(): BitWriter {
  const out: number[] = [];
  let length = 0;
  const bit = (value: number): void => {
    if (length % 8 === 0) out.push(0);
    if (value !== 0) out[out.length - 1] = (out.at(-1) ?? 0) | (0x80 >> (length % 8));
    length += 1;
  };
  const binary = (value: number, bits: number): void => {
    for (let at = bits - 1; at >= 0; at -= 1) bit((value >>> at) & 1);
  };
  return {
    sorted(values, divisor) {
      const { bits, short } = remainderForm(divisor);
      let previous = 0;
      for (const value of values) {
        const distance = value - previous;
        previous = value;
        for (let quotient = Math.floor(distance / divisor); quotient > 0; quotient -= 1) bit(1);
        bit(0);
        const remainder = distance % divisor;
        if (remainder < short) binary(remainder, bits - 1);
        else binary(remainder + short, bits);
      }
    },
    take: () => Uint8Array.from(out),
  };
}

export function createBitReader(input: Uint8Array): BitReader {
  let at = 0;
  const bit = (): number => {
    const byte = input[at >>> 3];
    if (byte === undefined) throw new RangeError('required more bits');
    at += 1;
    return (byte >>> (7 - ((at - 1) % 8))) & 1;
  };
  return {
    sorted(count, divisor, range) {
      const { bits, short } = remainderForm(divisor);
      const values: number[] = [];
      let value = 0;
      // Each number costs a bit at least: a count from hostile bytes ends this loop with the bits, not with the memory.
      while (values.length < count) {
        while (bit() === 1) value += divisor;
        let remainder = 0;
        for (let read = 1; read < bits; read += 1) remainder = remainder * 2 + bit();
        if (remainder >= short) remainder = remainder * 2 + bit() - short;
        value += remainder;
        if (value >= range) throw new RangeError(`required numbers below ${range}`);
        values.push(value);
      }
      return values;
    },
    end() {
      if (input.length !== Math.ceil(at / 8)) throw new RangeError('required no more bits');
      while (at % 8 !== 0) if (bit() !== 0) throw new RangeError('required zeros at the end');
    },
  };
}

/** Truncated binary: the lowest `short` of `divisor` remainders take `bits - 1` bits, the others `bits`. */
function remainderForm(divisor: number): { bits: number; short: number } {
  const bits = Math.max(1, 32 - Math.clz32(divisor - 1));
  return { bits, short: 2 ** bits - divisor };
}
