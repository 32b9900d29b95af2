import { type Problem, RecommenderUnavailableError, StoreUnavailableError } from '../errors.ts';

/** What a feed can live through: something else is shown, with a problem, or the cursor stays valid. */
export type Outage = StoreUnavailableError | RecommenderUnavailableError;

/** True for what may be survived; all else is a bug, or the request's own end. */
export function isOutage(error: unknown): error is Outage {
  return error instanceof StoreUnavailableError || error instanceof RecommenderUnavailableError;
}

/** How a page tells about an outage that it survived. */
export function problemOf(outage: Outage): Problem {
  const code = outage instanceof StoreUnavailableError ? 'STORE_UNAVAILABLE' : 'RECOMMENDER_UNAVAILABLE';
  return { code, message: outage.message, retryAtMs: outage.retryAtMs };
}

/** When to ask again after these, as an error wants it. */
export function soonest(problems: readonly Problem[]): { retryAtMs?: number } {
  const times = problems.flatMap(({ retryAtMs }) => (retryAtMs === undefined ? [] : [retryAtMs]));
  return times.length === 0 ? {} : { retryAtMs: Math.min(...times) };
}
