/** Collects bytes; `take` gives them all. */
export interface ByteWriter {
  byte(value: number): void;
  /** A whole number from 0 to 2^53 - 1 in 1 to 8 bytes, 7 bits each, lowest first. */
  varint(value: number): void;
  bytes(value: Uint8Array): void;
  take(): Uint8Array;
}

/** Reads what a ByteWriter wrote, and nothing else. Every method throws RangeError when it does not fit. */
export interface ByteReader {
  byte(): number;
  /** Refuses longer forms than the writer's. */
  varint(): number;
  /** The next `count` bytes, default all that are left: a view, not a copy. */
  bytes(count?: number): Uint8Array;
  /** Refuses bytes that are left over. */
  end(): void;
}

export function createByteWriter(): ByteWriter {
  const out: number[] = [];
  return {
    byte: (value) => void out.push(value & 0xff),
    varint(value) {
      if (!Number.isSafeInteger(value) || value < 0)
        throw new RangeError(`required a whole number from 0, got ${value}`);
      let rest = value;
      for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) out.push((rest & 0x7f) | 0x80);
      out.push(rest);
    },
    bytes(value) {
      for (const byte of value) out.push(byte);
    },
    take: () => Uint8Array.from(out),
  };
}

export function createByteReader(input: Uint8Array): ByteReader {
  let at = 0;
  const byte = (): number => {
    const value = input[at];
    if (value === undefined) throw new RangeError('required more bytes');
    at += 1;
    return value;
  };
  return {
    byte,
    varint() {
      let value = 0;
      for (let scale = 1; ; scale *= 0x80) {
        const next = byte();
        value += (next & 0x7f) * scale;
        if (!Number.isSafeInteger(value) || (next === 0 && scale > 1))
          throw new RangeError('required a shortest varint');
        if (next < 0x80) return value;
      }
    },
    bytes(count = input.length - at) {
      if (count > input.length - at) throw new RangeError('required more bytes');
      at += count;
      return input.subarray(at - count, at);
    },
    end() {
      if (at !== input.length) throw new RangeError('required no more bytes');
    },
  };
}
