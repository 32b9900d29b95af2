/** Counts that all gateways share. Each goes by itself once all of its turns are there again. */
export interface QuotaStore {
  /**
   * Takes up to `count` turns, one each `everyMs` on average and at most `burst` at once; returns how many were granted, 0 to `count`.
   * A clock that was set back grants nothing that it would not have, nor blocks for longer than burst * everyMs.
   * One number a name, by the generic cell rate algorithm. @see https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
   */
  take(quota: { name: string; count: number; everyMs: number; burst: number; nowMs: number }): Promise<number>;
}
