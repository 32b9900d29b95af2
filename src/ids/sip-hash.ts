/** 128 bits, as four 32-bit numbers. */
export type SipKey = Int32Array;

/** The key that these 16 bytes are. */
export function sipKey(bytes: Uint8Array): SipKey {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  return Int32Array.from([0, 4, 8, 12], (at) => view.getInt32(at, true));
}

/**
 * SipHash-2-4 of a text's UTF-16 code units (two bytes each, low byte first), as its high and its low 32 bits, signed. A keyed hash
 * for short texts: without the key nobody finds two that share theirs. Several times as fast here as a call of node:crypto.
 * @see J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012
 */
export function sipHash(key: SipKey, text: string): readonly [high: number, low: number] {
  const [k0 = 0, k1 = 0, k2 = 0, k3 = 0] = key;
  // Four 64-bit words of state: `a1` is the high half of the first, `a0` the low one.
  let a0 = k0 ^ 0x70736575;
  let a1 = k1 ^ 0x736f6d65;
  let b0 = k2 ^ 0x6e646f6d;
  let b1 = k3 ^ 0x646f7261;
  let c0 = k0 ^ 0x6e657261;
  let c1 = k1 ^ 0x6c796765;
  let d0 = k2 ^ 0x79746573;
  let d1 = k3 ^ 0x74656462;
  const { length } = text;
  const blocks = length >>> 2;
  for (let block = 0; block <= blocks + 1; block += 1) {
    // The blocks of the text, the last one with its length in bytes, then four rounds that finish.
    const at = block << 2;
    let m0 = 0;
    let m1 = 0;
    let rounds = 2;
    if (block < blocks) {
      m0 = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
      m1 = text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 16);
    } else if (block === blocks) {
      const left = length & 3;
      m0 = (left > 0 ? text.charCodeAt(at) : 0) | (left > 1 ? text.charCodeAt(at + 1) << 16 : 0);
      m1 = (left > 2 ? text.charCodeAt(at + 2) : 0) | ((length * 2) << 24);
    } else {
      c0 ^= 0xff;
      rounds = 4;
    }
    d0 ^= m0;
    d1 ^= m1;
    for (; rounds > 0; rounds -= 1) {
      a0 = (a0 + b0) | 0;
      a1 = (a1 + b1 + (a0 >>> 0 < b0 >>> 0 ? 1 : 0)) | 0;
      let high = (b1 << 13) | (b0 >>> 19);
      b0 = ((b0 << 13) | (b1 >>> 19)) ^ a0;
      b1 = high ^ a1;
      high = a0;
      a0 = a1;
      a1 = high;
      c0 = (c0 + d0) | 0;
      c1 = (c1 + d1 + (c0 >>> 0 < d0 >>> 0 ? 1 : 0)) | 0;
      high = (d1 << 16) | (d0 >>> 16);
      d0 = ((d0 << 16) | (d1 >>> 16)) ^ c0;
      d1 = high ^ c1;
      a0 = (a0 + d0) | 0;
      a1 = (a1 + d1 + (a0 >>> 0 < d0 >>> 0 ? 1 : 0)) | 0;
      high = (d1 << 21) | (d0 >>> 11);
      d0 = ((d0 << 21) | (d1 >>> 11)) ^ a0;
      d1 = high ^ a1;
      c0 = (c0 + b0) | 0;
      c1 = (c1 + b1 + (c0 >>> 0 < b0 >>> 0 ? 1 : 0)) | 0;
      high = (b1 << 17) | (b0 >>> 15);
      b0 = ((b0 << 17) | (b1 >>> 15)) ^ c0;
      b1 = high ^ c1;
      high = c0;
      c0 = c1;
      c1 = high;
    }
    a0 ^= m0;
    a1 ^= m1;
  }
  return [a1 ^ b1 ^ c1 ^ d1, a0 ^ b0 ^ c0 ^ d0];
}
