import type { Clock } from '../clock.ts';

/** What may go wrong inside: a code of ours, and a message for operators. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** By code, as clients read it. All else that may get here is an upstream's failure. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['STORE_UNAVAILABLE', 'the store does not answer: try again'],
  ['RECOMMENDER_UNAVAILABLE', 'the recommender does not answer usefully: try again'],
  ['IDS_UNAVAILABLE', 'no ids can be issued now: try again'],
]);

/** One line a code in so long: an outage fails every request. */
const LOG_AGAIN_MS = 10_000;

/**
 * Turns what failed inside into words for clients, for `errors` and `problems` alike: made of the code alone, since messages
 * name addresses and quote libraries. The message is logged, at most once in 10 s a code.
 */
export type ClientWords = (failure: Failure) => string;

export function createClientWords(deps: { clock: Pick<Clock, 'now'>; log: (line: string) => void }): ClientWords {
  const { clock, log } = deps;
  const loggedAtMs = new Map<string, number>();
  return ({ code, message }) => {
    const nowMs = clock.now();
    if (Math.abs(nowMs - (loggedAtMs.get(code) ?? Number.NEGATIVE_INFINITY)) >= LOG_AGAIN_MS) {
      loggedAtMs.set(code, nowMs);
      log(`${code}: ${message}`);
    }
    return wordsOf(code);
  };
}

/** The words alone. */
export function wordsOf(code: string): string {
  return WORDS.get(code) ?? `an upstream failed: ${code}`;
}
