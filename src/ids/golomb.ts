/**
 * Golomb coding of sorted numbers: each distance to the one before is a quotient in unary and a remainder in truncated binary.
 * With a divisor of ln 2 times the mean distance it comes within 1 % of what random numbers can be packed into.
 * @see S. W. Golomb, "Run-Length Encodings", 1966
 */
export interface BitWriter {
  /** Sorted ascending, from 0; repeats are kept. */
  sorted(values: ArrayLike<number>, divisor: number): void;
  /** The bits so far, filled up with zeros to whole bytes. */
  take(): Uint8Array;
}

/** Reads what a BitWriter wrote. Both methods throw RangeError when it does not fit. */
export interface BitReader {
  /** `count` numbers, each below `range`. */
  sorted(count: number, divisor: number, range: number): Uint32Array;
  /** Refuses what is left over, but for the zeros of the last byte. */
  end(): void;
}

export function createBitWriter(): BitWriter {
  const out: number[] = [];
  // Fewer than 8 bits that no byte holds yet: with a remainder's 21 they are fewer than 32.
  let open = 0;
  let openBits = 0;
  const put = (value: number, bits: number): void => {
    open = (open << bits) | value;
    openBits += bits;
    for (; openBits >= 8; openBits -= 8) out.push((open >>> (openBits - 8)) & 0xff);
    open &= (1 << openBits) - 1;
  };
  return {
    sorted(values, divisor) {
      const { bits, short } = remainderForm(divisor);
      let previous = 0;
      for (let at = 0; at < values.length; at += 1) {
        const value = values[at] ?? 0;
        const distance = value - previous;
        previous = value;
        for (let quotient = Math.floor(distance / divisor); quotient > 0; quotient -= 1) put(1, 1);
        put(0, 1);
        const remainder = distance % divisor;
        if (remainder < short) put(remainder, bits - 1);
        else put(remainder + short, bits);
      }
    },
    take: () => Uint8Array.from(openBits === 0 ? out : [...out, (open << (8 - openBits)) & 0xff]),
  };
}

export function createBitReader(input: Uint8Array): BitReader {
  let read = 0;
  let open = 0;
  let openBits = 0;
  const take = (bits: number): number => {
    for (; openBits < bits; openBits += 8) {
      const byte = input[read];
      if (byte === undefined) throw new RangeError('required more bits');
      read += 1;
      open = (open << 8) | byte;
    }
    openBits -= bits;
    const value = open >>> openBits;
    open &= (1 << openBits) - 1;
    return value;
  };
  return {
    sorted(count, divisor, range) {
      const { bits, short } = remainderForm(divisor);
      // Each number costs a bit at least: a count from hostile bytes takes no memory.
      if (count > 8 * (input.length - read) + openBits) throw new RangeError('required more bits');
      const values = new Uint32Array(count);
      let value = 0;
      for (let at = 0; at < count; at += 1) {
        while (take(1) === 1) value += divisor;
        let remainder = take(bits - 1);
        if (remainder >= short) remainder = remainder * 2 + take(1) - short;
        value += remainder;
        if (value >= range) throw new RangeError(`required numbers below ${range}`);
        values[at] = value;
      }
      return values;
    },
    end() {
      if (read !== input.length) throw new RangeError('required no more bits');
      if (open !== 0) throw new RangeError('required zeros at the end');
    },
  };
}

/** Truncated binary: the lowest `short` of `divisor` remainders take `bits - 1` bits, the others `bits`. */
function remainderForm(divisor: number): { bits: number; short: number } {
  const bits = Math.max(1, 32 - Math.clz32(divisor - 1));
  return { bits, short: 2 ** bits - divisor };
}
