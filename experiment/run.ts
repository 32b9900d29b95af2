import { createRivals, RIVAL_NAMES, type Rival } from '../src/experiment/rivals.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Gap, LogState } from '../src/stores/timeline-store.ts';
import { createVirtualClock, type VirtualClock } from '../test/virtual-clock.ts';
import { createLabClient } from './client.ts';
import { createLabGateway, LAB_SOURCE, type LabGateway } from './gateway.ts';
import { createRandom } from './random.ts';
import { LOST_AFTER_MS, MOST_LATE_MS, type Scenario } from './scenarios.ts';
import { createLabServer, PAGE_SIZE } from './server.ts';
import { writePosts } from './traffic.ts';
import { drawWeather } from './weather.ts';

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
  /** Ours first, then plain since_id, then the other rivals. */
  readonly tallies: readonly Tally[];
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
  const weather = drawWeather(scenario, random);
  const server = createLabServer(scenario, weather, clock);
  const posts = writePosts(scenario, startMs, random);
  for (const post of posts) server.simulated.timeline.put(post);
  const store = await openSqliteStore({ file: ':memory:' });
  const client = createLabClient(store, clock, LAB_SOURCE);
  const rivals = createRivals({ network: 'mastodon', pageSize: PAGE_SIZE, now: clock.now, readFor: server.readFor });

  const delivered = new Map([OURS, ...rivals.map(({ name }) => name)].map((name) => [name, createInbox(clock)]));
  const inbox = (name: string) => delivered.get(name) ?? createInbox(clock);
  const gaps = new Map<string, Gap>();
  let reading = Promise.resolve();
  let firstPolls = 0;

  async function pollRivals(): Promise<void> {
    firstPolls += 1;
    for (const rival of rivals) inbox(rival.name).take(await pollOrFail(rival));
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
      upstream: (isDead) => server.upstreamFor({ onPoll: pollRivals, isDead, isFirst: () => firstPolls === 0 }),
      onCommit: readClient,
    });
  }

  let lives = 1;
  let gateway = createGateway(lives);
  gateway.start();
  const events = [
    ...weather.restartsMs.map((atMs) => ({
      atMs,
      happen() {
        gateway.kill();
        lives += 1;
        gateway = createGateway(lives);
        gateway.start();
      },
    })),
    ...weather.steps.map(({ atMs, byMs }) => ({ atMs, happen: () => clock.step(byMs) })),
  ].sort((a, b) => a.atMs - b.atMs);

  for (const { atMs, happen } of events) {
    await advanceTo(clock, atMs);
    happen();
  }
  await advanceTo(clock, scenario.trafficMs);

  // What was made before all that the first poll showed is history, which nobody was asked to deliver.
  const plainInbox = inbox(RIVAL_NAMES[0] ?? '');
  const counted = posts.slice(posts.findIndex(({ id }) => plainInbox.has(id)));
  const isAllDelivered = () => counted.every(({ id }) => inbox(OURS).has(id));
  const endMs = scenario.trafficMs + MOST_LATE_MS + LOST_AFTER_MS;
  const earliestEndMs = scenario.trafficMs + (scenario.lateness === 'fediverse' ? MOST_LATE_MS : 0) + STEP_MS;
  while (clock.elapsedMs < endMs && (clock.elapsedMs < earliestEndMs || !isAllDelivered())) {
    await clock.advance(STEP_MS);
    await reading;
  }
  await gateway.stop();
  await reading;

  const { counts } = await store.timelines.readLog('lab');
  const overlapMs = (await store.timelines.readStatus('lab'))?.overlapMs ?? 0;
  await store.close();
  const tally = (name: string, requests: number, readAgain: number, told: readonly Gap[]): Tally => {
    const box = inbox(name);
    const lost = counted.filter(({ id }) => !box.has(id));
    const inGaps = lost.filter(({ atMs }) => told.some((gap) => covers(gap, atMs)));
    const both = counted.filter(({ id }) => box.has(id) && plainInbox.has(id));
    return {
      name,
      lost: lost.length - inGaps.length,
      lostInGaps: inGaps.length,
      twice: box.twice,
      requests,
      readAgain,
      delaysMs: both.map(({ id, visibleAtMs }) => startMs + box.at(id) - visibleAtMs),
    };
  };
  return {
    scenario: scenario.name,
    seed,
    posts: counted.length,
    tallies: [
      tally(OURS, server.requests, counts.duplicatesDropped, [...gaps.values()]),
      ...rivals.map((rival) => tally(rival.name, rival.counts.requests, rival.counts.readAgain, [])),
    ],
    log: { counts, overlapMs },
  };
}

async function pollOrFail(rival: Rival): Promise<readonly string[]> {
  try {
    return await rival.poll();
  } catch {
    // A poll that was refused is tried again at the next moment of the schedule.
    return [];
  }
}

async function advanceTo(clock: VirtualClock, elapsedMs: number): Promise<void> {
  while (clock.elapsedMs < elapsedMs) await clock.advance(Math.min(STEP_MS, elapsedMs - clock.elapsedMs));
}

function covers({ fromMs = 0, toMs = Number.POSITIVE_INFINITY }: Gap, atMs: number): boolean {
  return fromMs <= atMs && atMs <= toMs;
}

interface Inbox {
  take(ids: readonly string[]): void;
  has(id: string): boolean;
  /** When it came, ms since the run began. */
  at(id: string): number;
  readonly twice: number;
}

function createInbox(clock: VirtualClock): Inbox {
  const atMs = new Map<string, number>();
  let twice = 0;
  return {
    take(ids) {
      for (const id of ids) {
        if (atMs.has(id)) twice += 1;
        else atMs.set(id, clock.elapsedMs);
      }
    },
    has: (id) => atMs.has(id),
    at: (id) => atMs.get(id) ?? 0,
    get twice() {
      return twice;
    },
  };
}
