import type { ChangesTold } from './changes.ts';
import { OURS, type RunResult } from './run.ts';
import { mostRequests, type Scenario } from './scenarios.ts';

/** One poller in one scenario, over all seeds. */
export interface Row {
  readonly poller: string;
  readonly lost: number;
  readonly lostInGaps: number;
  readonly twice: number;
  readonly requests: number;
  /** As a multiple of the plain poller's. */
  readonly requestRatio: number;
  readonly readAgain: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface ScenarioSummary {
  readonly scenario: Scenario;
  readonly runs: number;
  readonly posts: number;
  /** Ours first, then the plain poller, then the others. */
  readonly rows: readonly Row[];
  readonly changes: ChangesTold;
}

export function summarise(scenario: Scenario, results: readonly RunResult[]): ScenarioSummary {
  const names = results[0]?.tallies.map(({ name }) => name) ?? [];
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const talliesOf = (name: string) => results.flatMap(({ tallies }) => tallies.filter((tally) => tally.name === name));
  const plainRequests = sum(talliesOf(names[1] ?? '').map(({ requests }) => requests));
  const rows = names.map((poller): Row => {
    const tallies = talliesOf(poller);
    const requests = sum(tallies.map((tally) => tally.requests));
    const delays = tallies.flatMap(({ delaysMs }) => delaysMs).sort((a, b) => a - b);
    return {
      poller,
      lost: sum(tallies.map(({ lost }) => lost)),
      lostInGaps: sum(tallies.map(({ lostInGaps }) => lostInGaps)),
      twice: sum(tallies.map(({ twice }) => twice)),
      requests,
      requestRatio: requests / plainRequests,
      readAgain: sum(tallies.map(({ readAgain }) => readAgain)),
      p50Ms: rank(delays, 0.5),
      p99Ms: rank(delays, 0.99),
    };
  });
  const total = (of: (changes: ChangesTold) => number) => sum(results.map(({ changes }) => of(changes)));
  const changes = {
    deleted: total(({ deleted }) => deleted),
    untoldRemovals: total(({ untoldRemovals }) => untoldRemovals),
    edited: total(({ edited }) => edited),
    untoldEdits: total(({ untoldEdits }) => untoldEdits),
    wronglyRemoved: total(({ wronglyRemoved }) => wronglyRemoved),
  };
  return { scenario, runs: results.length, posts: sum(results.map(({ posts }) => posts)), rows, changes };
}

/** Nearest rank. */
function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}

/** What must hold, and does not: one sentence each. With few seeds the plain poller may be lucky. */
export function failures(summaries: readonly ScenarioSummary[]): readonly string[] {
  return summaries.flatMap(({ scenario, rows: [ours, plain], changes }) => {
    if (ours === undefined || plain === undefined) return [`${scenario.name}: nothing ran`];
    const most = mostRequests(scenario);
    const told: string[] = [];
    if (ours.lost > 0) told.push(`${OURS} lost ${ours.lost} posts`);
    if (ours.twice > 0) told.push(`${OURS} delivered ${ours.twice} posts twice`);
    const { deleted, untoldRemovals, edited, untoldEdits, wronglyRemoved } = changes;
    if (untoldRemovals > 0) told.push(`${OURS} did not tell ${untoldRemovals} of ${deleted} removals`);
    if (untoldEdits > 0) told.push(`${OURS} did not tell ${untoldEdits} of ${edited} edits`);
    if (wronglyRemoved > 0) told.push(`${OURS} removed ${wronglyRemoved} posts that are there`);
    if (plain.lost === 0) told.push('the plain poller lost nothing: the scenario shows nothing');
    if (most !== undefined && ours.requestRatio > most) {
      told.push(`${OURS} needed ${ours.requestRatio.toFixed(2)} times the plain poller's requests, at most ${most}`);
    }
    if (ours.p99Ms > plain.p99Ms)
      told.push(`p99 of the delay is ${ours.p99Ms} ms, the plain poller's ${plain.p99Ms} ms`);
    return told.map((what) => `${scenario.name}: ${what}`);
  });
}

/** `, 1,998 of 2,000 removals told`; empty where nothing was changed. */
export function describeChanges({ deleted, untoldRemovals, edited, untoldEdits }: ChangesTold): string {
  const part = (what: string, all: number, untold: number) =>
    all === 0 ? '' : `, ${(all - untold).toLocaleString('en')} of ${all.toLocaleString('en')} ${what} told`;
  return part('removals', deleted, untoldRemovals) + part('edits', edited, untoldEdits);
}

/** The figures as text, a scenario a block. */
export function table(summaries: readonly ScenarioSummary[]): string {
  const head = ['', 'lost', 'in gaps', 'twice', 'requests', 'ratio', 'read again', 'delay p50', 'p99'];
  return summaries
    .map(({ scenario, runs, posts, rows, changes }) => {
      const lines = rows.map((row) => [
        row.poller,
        ...[row.lost, row.lostInGaps, row.twice, row.requests].map(String),
        row.requestRatio.toFixed(3),
        String(row.readAgain),
        ...[row.p50Ms, row.p99Ms].map((ms) => `${(ms / 1000).toFixed(1)} s`),
      ]);
      const widths = head.map((_, at) => Math.max(...[head, ...lines].map((line) => line[at]?.length ?? 0)));
      const text = [head, ...lines].map((line) =>
        line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
      );
      const title = `${scenario.name}: ${posts} posts in ${runs} runs${describeChanges(changes)}`;
      return [title, ...text].join('\n');
    })
    .join('\n\n');
}
