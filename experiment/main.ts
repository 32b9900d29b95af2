import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runJobs } from './crew.ts';
import { renderReport } from './report.ts';
import type { RunResult } from './run.ts';
import { FIXED_SEEDS, SCENARIOS } from './scenarios.ts';
import { failures, summarise, table } from './summary.ts';

const USAGE = `npm run experiment -- [options]

Runs Sluice and the baseline pollers past the same simulated traffic, prints what each lost, and writes a report with charts.

  --scenario TEXT   only scenarios whose name holds TEXT; may be given more than once
  --seeds N         N fixed seeds (at most ${FIXED_SEEDS.length}) and as many drawn; default ${FIXED_SEEDS.length}
  --seed N          this seed alone; may be given more than once
  --threads N       default: one a core
  --out FILE        the report; default experiment-report.html
  --list            names the scenarios
`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true, default: [] },
    seeds: { type: 'string', default: String(FIXED_SEEDS.length) },
    seed: { type: 'string', multiple: true, default: [] },
    threads: { type: 'string', default: String(availableParallelism()) },
    out: { type: 'string', default: 'experiment-report.html' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const scenarios = SCENARIOS.filter(
  ({ name }) => values.scenario.length === 0 || values.scenario.some((text) => name.includes(text)),
);
if (values.help) {
  console.log(USAGE);
} else if (values.list || scenarios.length === 0) {
  console.log(SCENARIOS.map(({ name }) => name).join('\n'));
  if (!values.list) stop(`no scenario is named like ${values.scenario.join(', ')}`);
} else {
  const count = whole('--seeds', values.seeds, FIXED_SEEDS.length);
  const drawn = Array.from({ length: count }, () => Math.floor(Math.random() * 2 ** 31));
  const chosen = values.seed.map((seed) => whole('--seed', seed, 2 ** 32 - 1));
  await experiment(chosen.length > 0 ? chosen : [...FIXED_SEEDS.slice(0, count), ...drawn]);
}

async function experiment(seeds: readonly number[]): Promise<void> {
  const jobs = scenarios.flatMap(({ name }) => seeds.map((seed) => ({ scenario: name, seed })));
  const results: RunResult[] = [];
  console.log(`${scenarios.length} scenarios, seeds ${seeds.join(' ')}`);
  await runJobs(jobs, whole('--threads', values.threads, 64), (result) => {
    results.push(result);
    const posts = results.reduce((sum, each) => sum + each.posts, 0);
    process.stderr.write(`\r${results.length} of ${jobs.length} runs, ${posts} posts`);
  });
  process.stderr.write('\n');
  const summaries = scenarios.map((scenario) =>
    summarise(
      scenario,
      results.filter((result) => result.scenario === scenario.name),
    ),
  );
  const failed = failures(summaries);
  console.log(`\n${table(summaries)}\n`);
  writeFileSync(values.out, renderReport(summaries, { seeds, failures: failed, madeAt: new Date() }));
  console.log(failed.length === 0 ? 'All that must hold, holds.' : failed.join('\n'));
  console.log(`Report: ${values.out}`);
  if (failed.length > 0) process.exitCode = 1;
}

function whole(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most) stop(`${option}: required 1 to ${most}, got ${text}`);
  return value;
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}
