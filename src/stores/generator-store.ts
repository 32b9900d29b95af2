/** Numbers of id generators, 0 to 255: each is leased to one holder at a time, and remembers how far its ids have gone. */
export interface GeneratorStore {
  /**
   * Leases `generator`, where it is free or the holder's own; absent: the free one that went least far. Raises its mark to
   * `markMs`, up to which the holder may issue: whoever has it next begins above.
   * After the store may have lost its newest writes nobody has a lease for `pauseMs`, and all marks are raised by `pauseMs` once.
   */
  lease(query: {
    holder: string;
    generator?: number | undefined;
    ttlMs: number;
    markMs: number;
    pauseMs: number;
    nowMs: number;
  }): Promise<GeneratorLease | 'none free' | 'paused'>;
  /** Lets go, if the holder still holds it. The mark stays. */
  release(holder: string, generator: number): Promise<void>;
}

export interface GeneratorLease {
  readonly generator: number;
  /** The mark as it was: ids up to this ms may have been issued. 0: none ever. */
  readonly afterMs: number;
}

export const GENERATORS = 256;
