const FIRST_BYTES = 1_024;

/**
 * Puts pieces of a body together, `maxBytes` at most. They are copied as they come: a piece that is kept costs hundreds of
 * bytes, however short it is.
 */
export function createCollector(maxBytes: number) {
  let bytes = Buffer.alloc(0);
  let size = 0;
  return {
    /** False where it would be more than `maxBytes`: then it is not taken. */
    add(piece: Uint8Array): boolean {
      const end = size + piece.length;
      if (end > maxBytes) return false;
      if (end > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(end, 2 * bytes.length, FIRST_BYTES)));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      bytes.set(piece, size);
      size = end;
      return true;
    },
    /** All pieces so far, in their order. */
    whole: (): Buffer => bytes.subarray(0, size),
  };
}
