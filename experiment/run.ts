import { BASELINE_NAMES, type BaselinePoller, createBaselinePollers } from '../src/experiment/baseline-pollers.ts';
import { idScheme } from '../src/ids/id-scheme.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Gap, LogState } from '../src/stores/timeline-store.ts';
import type { SimulatedPost } from '../test/simulated-timeline.ts';
import { createVirtualClock, type VirtualClock } from '../test/virtual-clock.ts';
import { type ChangesTold, compareCopy, drawChanges } from './changes.ts';
import { createLabClient } from './client.ts';
import { drawFaultPlan } from './fault-plan.ts';
import { createLabGateway, LAB_SOURCE, type LabGateway } from './gateway.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { createRandom } from './random.ts';
import { LOST_AFTER_MS, MOST_LATE_MS, type Scenario } from './scenarios.ts';
import { createLabServer, PAGE_SIZE } from './server.ts';
import { writePosts } from './traffic.ts';

export const OURS = 'Sluice';

/** What one poller did in one run. */
export interface Tally {
  readonly name: string;
  /** Posts that became visible and were never delivered. */
  readonly lost: number;
  /** Those lost inside a gap that was told. */
  readonly lostInGaps: number;
  readonly twice: number;
  readonly requests: number;
  /** Posts read that were known already. */
  readonly readAgain: number;
  /** From becoming visible until delivery, ms: for posts which the plain poller delivered, too. */
  readonly delaysMs: readonly number[];
}

export interface RunResult {
  readonly scenario: string;
  readonly seed: number;
  readonly posts: number;
  /** Ours first, then plain since_id, then the other baselines. */
  readonly tallies: readonly Tally[];
  /** Of what Sluice's client was given. */
  readonly changes: ChangesTold;
  readonly log: Pick<LogState, 'counts'> & { readonly overlapMs: number };
}

/** The log is trimmed under its reader in a rough run: a client that reads often must not notice. */
const KEEP = { calm: 100_000, rough: 2100 };
const STEP_MS = 60_000;

/** One scenario with one seed: the same traffic past all pollers. The same arguments always give the same result. */
export async function runScenario(scenario: Scenario, seed: number): Promise<RunResult> {
  const random = createRandom(seed);
  const clock = createVirtualClock();
  const startMs = clock.now();
  const faults = drawFaultPlan(scenario, random);
  const server = createLabServer(scenario, faults, clock);
  const posts = writePosts(scenario, startMs, random);
  for (const post of posts) server.simulated.timeline.put(post);
  const changes = drawChanges(scenario, posts, startMs, createRandom(seed + 2 ** 31));
  const store = await openSqliteStore({ file: ':memory:' });
  const client = createLabClient(store, clock, LAB_SOURCE);
  const baselines = createBaselinePollers({
    scheme: idScheme(scenario.scheme ?? 'mastodon'),
    pageSize: PAGE_SIZE,
    now: clock.now,
    readFor: server.readFor,
  });

  const delivered = new Map([OURS, ...baselines.map(({ name }) => name)].map((name) => [name, createInbox(clock)]));
  const inbox = (name: string) => delivered.get(name) ?? createInbox(clock);
  const gaps = new Map<string, Gap>();
  let reading = Promise.resolve();
  let firstPolls = 0;

  async function pollBaselines(): Promise<void> {
    firstPolls += 1;
    for (const baseline of baselines) inbox(baseline.name).take(await pollOrFail(baseline));
  }

  function readClient(): void {
    reading = reading.then(async () => {
      const { ids, gaps: told } = await client.read();
      inbox(OURS).take(ids);
      for (const gap of told) gaps.set(gap.id, gap);
    });
  }

  function createGateway(life: number): LabGateway {
    return createLabGateway({
      clock,
      store,
      random,
      holder: `life-${life}`,
      keepEntries: scenario.isRough ? KEEP.rough : KEEP.calm,
      upstream: (isDead) => server.upstreamFor({ onPoll: pollBaselines, isDead, isFirst: () => firstPolls === 0 }),
      onCommit: readClient,
    });
  }

  let lives = 1;
  let gateway = createGateway(lives);
  gateway.start();
  const events = [
    ...faults.restartsMs.map((atMs) => ({
      atMs,
      happen() {
        gateway.kill();
        lives += 1;
        gateway = createGateway(lives);
        gateway.start();
      },
    })),
    ...changes.map(({ atMs, happen }) => ({ atMs, happen: () => happen(server.simulated) })),
    ...faults.steps.map(({ atMs, byMs }) => ({ atMs, happen: () => clock.step(byMs) })),
  ].sort((a, b) => a.atMs - b.atMs);

  for (const { atMs, happen } of events) {
    await advanceTo(clock, atMs);
    happen();
  }
  await advanceTo(clock, scenario.trafficMs);

  // What was made before all that the first poll showed is history, which nobody was asked to deliver.
  const plainInbox = inbox(BASELINE_NAMES[0] ?? '');
  const counted = posts.slice(posts.findIndex(({ id }) => plainInbox.has(id)));
  const present = server.simulated.timeline.posts;
  const isLiving = (id: string) => present.get(id)?.isDeleted !== true;
  const isAllDelivered = () => counted.every(({ id }) => inbox(OURS).has(id) || !isLiving(id));
  const told = () => compareCopy(client.copy, inbox(OURS).has, present.values());
  const isAllTold = () => isAllDelivered() && told().untoldRemovals + told().untoldEdits === 0;
  const endMs = scenario.trafficMs + MOST_LATE_MS + LOST_AFTER_MS;
  const earliestEndMs = scenario.trafficMs + (scenario.lateness === 'fediverse' ? MOST_LATE_MS : 0) + STEP_MS;
  while (clock.elapsedMs < endMs && (clock.elapsedMs < earliestEndMs || !isAllTold())) {
    await clock.advance(STEP_MS);
    await reading;
  }
  await gateway.stop();
  await reading;

  const { counts } = await store.timelines.readLog('lab');
  const overlapMs = (await store.timelines.readStatus('lab'))?.overlapMs ?? 0;
  await store.close();
  const tally = (name: string, told: Pick<Tally, 'requests' | 'readAgain'>, gapsTold: readonly Gap[]): Tally => ({
    name,
    ...told,
    ...delivery({ box: inbox(name), plainBox: plainInbox, counted, isLiving, gaps: gapsTold, startMs }),
  });
  return {
    scenario: scenario.name,
    seed,
    posts: counted.length,
    tallies: [
      tally(OURS, { requests: server.requests, readAgain: counts.duplicatesDropped }, [...gaps.values()]),
      ...baselines.map(({ name, counts: { requests, readAgain } }) => tally(name, { requests, readAgain }, [])),
    ],
    changes: told(),
    log: { counts, overlapMs },
  };
}

async function pollOrFail(baseline: BaselinePoller): Promise<readonly string[]> {
  try {
    return await baseline.poll();
  } catch {
    // A poll that was refused is tried again at the next moment of the schedule.
    return [];
  }
}

async function advanceTo(clock: VirtualClock, elapsedMs: number): Promise<void> {
  while (clock.elapsedMs < elapsedMs) await clock.advance(Math.min(STEP_MS, elapsedMs - clock.elapsedMs));
}

/** What one poller delivered of the posts that count, against what the plain one did. */
function delivery(query: {
  box: Inbox;
  plainBox: Inbox;
  counted: readonly SimulatedPost[];
  /** False for posts that were deleted: nobody can deliver them any more. */
  isLiving: (id: string) => boolean;
  gaps: readonly Gap[];
  startMs: number;
}): Pick<Tally, 'lost' | 'lostInGaps' | 'twice' | 'delaysMs'> {
  const { box, plainBox, counted, isLiving, gaps, startMs } = query;
  const lost = counted.filter(({ id }) => !box.has(id) && isLiving(id));
  const inGaps = lost.filter(({ atMs }) => gaps.some((gap) => covers(gap, atMs)));
  const both = counted.filter(({ id }) => box.has(id) && plainBox.has(id));
  return {
    lost: lost.length - inGaps.length,
    lostInGaps: inGaps.length,
    twice: box.twice,
    delaysMs: both.map(({ id, visibleAtMs }) => startMs + box.at(id) - visibleAtMs),
  };
}

function covers({ fromMs = 0, toMs = Number.POSITIVE_INFINITY }: Gap, atMs: number): boolean {
  return fromMs <= atMs && atMs <= toMs;
}
