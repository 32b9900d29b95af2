import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Feed, Job } from './gateway.ts';

/** Gateways, each with a thread and connections of its own. */
export interface Crew {
  /** Shares the job out over the first `gateways`; gives the ms that each piece took. */
  run(gateways: number, job: Job): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Resolves when all are ready. */
export async function startCrew(gateways: number, data: { url: string; feeds: readonly Feed[] }): Promise<Crew> {
  const workers = Array.from(
    { length: gateways },
    () => new Worker(new URL('./gateway.ts', import.meta.url), { workerData: data }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  return {
    async run(count, { total, ...job }) {
      const some = workers.slice(0, count);
      const times = await Promise.all(
        some.map(async (worker) => {
          const done = once(worker, 'message');
          worker.postMessage({ ...job, total: Math.ceil(total / count) });
          const [each] = (await done) as [readonly number[]];
          return each;
        }),
      );
      return times.flat();
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
