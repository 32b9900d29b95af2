import { openSqliteStore } from '../src/stores/sqlite.ts';
import { createPollers } from '../src/timeline/pollers.ts';
import { createVirtualClock } from '../test/virtual-clock.ts';
import { median, print, short } from './side-by-side.ts';
import { createSimulatedSource } from './simulated-source.ts';

/**
 * What one process spends on 1, 100 and 10,000 sources, each with a host and token of its own and a post every 5 min: the CPU time
 * of a minute of theirs, under virtual time. The runs take turns, and each goes through as many minutes as it takes for
 * about as many polls.
 */
const SIZES = [1, 100, 10_000];
const SOURCE_MINUTES = 2_000;
const ROUNDS = 3;

const runs = await Promise.all(SIZES.map(start));
const spent = runs.map((): number[] => []);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [n, run] of runs.entries()) {
    spent[n]?.push(await run.minutes(Math.max(1, SOURCE_MINUTES / run.size)));
  }
}
const one = median(spent[0] ?? []);
print(
  'One loop with many sources (`many-sources`)',
  ['sources', 'polls a minute', 'CPU ms a minute', 'of one core', 'CPU µs a source and minute', 'beside 1 source'],
  runs.map((run, n) => {
    const ms = median(spent[n] ?? []);
    const polls = run.polls() / run.minutesGone();
    const share = `${short(ms / 600)} %`;
    return [
      run.size.toLocaleString('en'),
      short(polls),
      short(ms),
      share,
      short((ms / run.size) * 1000),
      `${short(ms / run.size / one)} x`,
    ];
  }),
);
for (const run of runs) await run.stop();

async function start(size: number) {
  const clock = createVirtualClock();
  const store = await openSqliteStore({ file: ':memory:', clock });
  const towns = Array.from({ length: size }, (_, n) => createSimulatedSource(`town${n}`, clock));
  const keep = { keepHours: 168, keepEntries: 100_000 };
  const sources = towns.map(({ source }) => source);
  const pollers = createPollers({ sources, store, clock, holder: 'bench', keep });
  for (const town of towns) town.publish(1, 5000);
  pollers.start();
  await clock.advance(120_000);
  let polls = 0;
  let minute = 0;
  for (const town of towns) town.takeBodies();

  return {
    size,
    polls: () => polls,
    minutesGone: () => minute,
    /** Gives the ms that one took. */
    async minutes(count: number): Promise<number> {
      let spentMs = 0;
      for (let n = 0; n < count; n += 1) {
        for (const [at, town] of towns.entries()) if ((at + minute) % 5 === 0) town.publish(1, 5000);
        const fromMs = performance.now();
        await clock.advance(60_000);
        spentMs += performance.now() - fromMs;
        for (const town of towns) polls += town.takeBodies().length;
        minute += 1;
      }
      return spentMs / count;
    },
    async stop() {
      const stopped = pollers.stop();
      await clock.advance(60_000);
      await stopped;
      await store.close();
    },
  };
}
