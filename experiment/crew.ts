import { Worker } from 'node:worker_threads';
import type { RunResult } from './run.ts';

export interface Job {
  readonly scenario: string;
  readonly seed: number;
}

/** Runs the jobs on so many threads; `onResult` hears of each as it ends. Rejects when a thread dies. */
export async function runJobs(
  jobs: readonly Job[],
  threads: number,
  onResult: (result: RunResult) => void,
): Promise<void> {
  const waiting = [...jobs];
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url));
      const next = () => {
        const job = waiting.shift();
        if (job !== undefined) return worker.postMessage(job);
        void worker.terminate().then(() => resolve());
      };
      worker.on('message', (result: RunResult) => {
        onResult(result);
        next();
      });
      worker.on('error', reject);
      next();
    });
  await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, work));
}
