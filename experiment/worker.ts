import { parentPort } from 'node:worker_threads';
import { runScenario } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

/** Runs what it is told, one after the other: `{ scenario, seed }` in, a RunResult out. */
parentPort?.on('message', async ({ scenario: name, seed }: { scenario: string; seed: number }) => {
  const scenario = SCENARIOS.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  parentPort?.postMessage(await runScenario(scenario, seed));
});
