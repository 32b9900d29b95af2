import type { Clock } from '../clock.ts';
import { RecommenderUnavailableError } from '../errors.ts';
import type { Recommender, RecommendRequest } from '../recommenders/recommender.ts';

/** For recommenders that name no time of their own. */
const MAX_MS = 10_000;

/**
 * What a recommender answers, unchecked. One that takes longer than its `maxMs` is told by its signal and not waited for;
 * whatever it throws is RecommenderUnavailableError.
 */
export async function ask(
  recommender: Recommender,
  request: Omit<RecommendRequest, 'signal'>,
  clock: Clock,
): Promise<unknown> {
  const { maxMs = MAX_MS } = recommender;
  const late = new AbortController();
  const done = new AbortController();
  const timeout = clock.sleep(maxMs, done.signal).then(() => {
    if (done.signal.aborted) return;
    late.abort();
    throw new RecommenderUnavailableError(`the recommender did not answer within ${maxMs} ms`);
  });
  try {
    const answer = Promise.try(() => recommender.recommend({ ...request, signal: late.signal }));
    return await Promise.race([answer, timeout]);
  } catch (cause) {
    if (cause instanceof RecommenderUnavailableError) throw cause;
    throw new RecommenderUnavailableError('the recommender failed', { cause });
  } finally {
    done.abort();
  }
}
