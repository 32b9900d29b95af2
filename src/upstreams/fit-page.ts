import { UpstreamError } from '../errors.ts';

/**
 * Returns the function that reads a page of as many posts as are wanted, and of fewer while so many are more than a reply may
 * hold: an author who writes a lot must not end a timeline. A page has `most` posts at most, and `least` at least.
 */
export function createPageFitter(most: number, least = 1) {
  let fitting = most;
  return async <T>(wanted: number, read: (limit: number) => Promise<T>): Promise<T> => {
    for (;;) {
      const limit = Math.max(least, Math.min(wanted, fitting));
      try {
        const page = await read(limit);
        fitting = Math.min(most, 2 * fitting);
        return page;
      } catch (error) {
        if (!(error instanceof UpstreamError) || !error.isTooLarge || limit === least) throw error;
        fitting = Math.max(least, Math.floor(limit / 8));
      }
    }
  };
}
