/** Time as the domain sees it: handed in, so that tests run it by hand. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds since some moment: for stretches of time, whatever the wall clock is set to meanwhile. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms).unref();
      signal?.addEventListener('abort', done);
    }),
};
