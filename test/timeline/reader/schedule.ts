import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TimelineToken } from '../../../src/ids/tokens.ts';
import { type MergeablePage, type MergedTimeline, mergeTimeline } from '../../../src/merge-timeline.ts';
import type { LogRecord } from '../../../src/stores/timeline-store.ts';
import type { TimelineView } from '../../../src/timeline/reader/read.ts';
import { type Copy, createModelClient, type Logs, type Screen, standingAt } from './model-client.ts';
import { createReaderHarness, type ReaderHarness, START_MS, throughEdge } from './reader-harness.ts';

/** Logs a and b are two timelines of one server, so that they share post ids; d is configured midway. */
export const LOGS = ['a', 'b', 'c', 'd'] as const;
export type LogKey = (typeof LOGS)[number];

/** Of which server each story is: nobody's, that of a and b, or one whose posts the others show too, or forge. */
const HOMES = ['origin.example', 'a.example', 'c.example', 'd.example'] as const;

function uriOf(n: number): string {
  return `https://${HOMES[n % HOMES.length]}/${n}`;
}

/** What can happen: to the logs, to the settings, and between the client and the gateway. */
export type Step =
  | { readonly type: 'tick'; readonly ms: number }
  | { readonly type: 'add'; readonly log: LogKey; readonly ns: readonly number[]; readonly lagMs: number }
  | { readonly type: 'edit'; readonly n: number; readonly lagMs: number }
  | { readonly type: 'remove'; readonly log: LogKey; readonly n: number }
  | { readonly type: 'configure' }
  | { readonly type: 'since'; readonly limit: number; readonly leaveOut: readonly LogKey[]; readonly keep: number }
  | { readonly type: 'until'; readonly limit: number };

export interface Schedule {
  readonly history: readonly Step[];
  readonly firstLimit: number;
  /** Absent: far more than there is. */
  readonly maxPageBytes?: number | undefined;
  readonly steps: readonly Step[];
}

interface Traits {
  readonly removals: boolean;
  readonly leaveOut: boolean;
  /** Goes on after an entry inside a page, now and then. */
  readonly entryCursors: boolean;
  /** Reads the history by pages, between pages by since; otherwise it is on the first page. */
  readonly untils: boolean;
  /** How far a commit's clock may lie behind. */
  readonly maxLagMs: number;
}

export function schedules(traits: Traits): fc.Arbitrary<Schedule> {
  // Often the one that has no home, so that its copies meet.
  const n = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 11 }));
  const log = fc.constantFrom(...LOGS);
  const lagMs = fc.integer({ min: 0, max: traits.maxLagMs });
  const limit = fc.integer({ min: 1, max: 5 });
  const keep = traits.entryCursors ? fc.integer({ min: 0, max: 5 }) : fc.constant(0);
  const leaveOut = traits.leaveOut ? fc.subarray([...LOGS]) : fc.constant([]);
  const ns = fc.uniqueArray(n, { minLength: 1, maxLength: 4 });
  const add = fc.record({ type: fc.constant('add' as const), log, ns, lagMs });
  const tick = fc.record({ type: fc.constant('tick' as const), ms: fc.integer({ min: 0, max: 3000 }) });
  const edit = fc.record({ type: fc.constant('edit' as const), n, lagMs });
  const remove = fc.record({ type: fc.constant('remove' as const), log, n });
  const since = fc.record({ type: fc.constant('since' as const), limit, leaveOut, keep });
  const until = fc.record({ type: fc.constant('until' as const), limit });
  const writes = [tick, add, add, edit, ...(traits.removals ? [remove] : [])];
  const reads = [since, since, ...(traits.untils ? [until] : [])];
  return fc.record({
    history: fc.array(fc.oneof(...writes), { maxLength: 10 }),
    // Pages of one post, of two, or of as many as the limit says.
    maxPageBytes: traits.untils ? fc.constantFrom(1, 400, undefined, undefined) : fc.constant(undefined),
    firstLimit: traits.untils ? limit : fc.constant(200),
    steps: fc.array(fc.oneof(...writes, ...reads, fc.constant({ type: 'configure' as const })), {
      maxLength: 40,
      size: 'max',
    }),
  });
}

/** More than any schedule can fill. */
const MOST_PAGES = 500;

interface ShownEntry {
  readonly sortAt: string;
  readonly post: { readonly id: string; readonly text: string };
  readonly uri: string;
}

/** A client that follows the contract. */
export interface Client {
  /** From `mergeTimeline`. */
  state: MergedTimeline<ShownEntry, string> | undefined;
  since: TimelineToken | undefined;
  until: TimelineToken | undefined;
  /** The post ids under which each uri was among pages' entries, in order. */
  readonly given: Map<string, string[]>;
}

export interface Outcome {
  readonly client: Client;
  /** By uri the copies of which the client must show one in the end. */
  readonly standing: ReadonlyMap<string, readonly Copy[]>;
  /** @see ModelClient */
  readonly doubts: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  /** Present texts by post id. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Runs a schedule, then reads everything that is left both ways. Each page is read twice and must be the same; after
 * each, the client's screen must be the model's.
 */
export async function run(schedule: Schedule): Promise<Outcome> {
  const harness = await createReaderHarness({}, schedule.maxPageBytes);
  const server = createServer(harness);
  for (const step of schedule.history) await server.happen(step);
  const client: Client = { state: undefined, since: undefined, until: undefined, given: new Map() };
  const model = createModelClient();
  let configured: readonly LogKey[] = LOGS.slice(0, 3);
  const firstKeys = configured;

  async function read(asked: Parameters<ReaderHarness['read']>[0]): Promise<TimelineView> {
    const view = await harness.read({ configured, ...asked });
    assert.deepEqual(await harness.read({ configured, ...asked }), view);
    assert.ok(view.entries.length + view.edited.length <= (asked.limit ?? 0));
    return view;
  }

  async function recordsOfAll(): Promise<Logs> {
    return new Map(await Promise.all(LOGS.map(async (key) => [key, await harness.records(key)] as const)));
  }

  function take(view: TimelineView) {
    for (const { record } of view.entries) {
      client.given.set(record.uri, [...(client.given.get(record.uri) ?? []), record.postId]);
    }
    const state = mergeTimeline(client.state, pageOf(view));
    assert.deepEqual(mergeTimeline(state, pageOf(view)), state);
    client.state = state;
    client.since = state.since === null ? undefined : throughEdge('since', JSON.parse(state.since));
    client.until = state.until === null ? undefined : throughEdge('until', JSON.parse(state.until));
  }

  function screen(): Screen {
    const shown = Map.groupBy(client.state?.entries ?? [], ({ uri }) => uri);
    return new Map([...shown].map(([uri, entries]) => [uri, entries.map(({ post }) => post.id)]));
  }

  function compareScreens() {
    const expected = [...model.screen()].map(([uri, id]) => [uri, [id]]);
    assert.deepEqual([...screen()].sort(), expected.sort());
  }

  async function readSince(keys: readonly LogKey[], limit: number, keep: number): Promise<boolean> {
    const { since } = client;
    assert.ok(since);
    const view = await read({ keys, limit, since });
    const from = keep > 0 && keep < view.entries.length ? view.entries.length - keep : 0;
    const last = view.entries[from];
    take({ ...view, entries: view.entries.slice(from) });
    if (from > 0 && last !== undefined && client.state !== undefined) {
      client.since = throughEdge('entry', last.token);
      client.state = { ...client.state, since: JSON.stringify({ sources: client.since.sources }) };
      const ahead = new Set(view.entries.slice(0, from).map(({ record }) => record.postId));
      model.cut({ from: since, since: client.since, ahead }, screen(), await recordsOfAll());
    } else model.follow(view, since, await recordsOfAll());
    compareScreens();
    return view.hasNewer || from > 0;
  }

  async function readUntil(limit: number) {
    const { until } = client;
    if (until !== undefined) await show(await read({ keys: firstKeys, limit, until }));
  }

  async function show(view: TimelineView) {
    take(view);
    assert.ok(client.since);
    model.show(view, client.since, await recordsOfAll());
    compareScreens();
  }

  await show(await read({ keys: firstKeys, limit: schedule.firstLimit }));
  for (const step of schedule.steps) {
    if (step.type === 'configure') configured = LOGS;
    else if (step.type === 'until') await readUntil(step.limit);
    else if (step.type === 'since') {
      const asked = configured.filter((key) => !step.leaveOut.includes(key));
      await readSince(asked.length === 0 ? configured : asked, step.limit, step.keep);
    } else await server.happen(step);
  }
  let pages = 0;
  for (let more = true; more; pages += 1) more = pages < MOST_PAGES && (await readSince(configured, 3, 0));
  for (; client.until !== undefined && pages < MOST_PAGES; pages += 1) await readUntil(3);
  assert.ok(pages < MOST_PAGES, 'paging must end');
  assert.ok(client.since);
  const standing = standingAt(client.since, await recordsOfAll());
  await harness.store.close();
  return { client, standing, doubts: model.doubts, missing: model.missing, texts: server.texts };
}

/** As the edge gives it. */
function pageOf(view: TimelineView): MergeablePage<ShownEntry, string> {
  return {
    entries: view.entries.map(({ record, post }) => ({
      sortAt: new Date(record.sortAtMs).toISOString(),
      post: { id: post.id, text: post.text },
      uri: record.uri,
    })),
    edited: view.edited.map(({ id, text }) => ({ id, text })),
    removed: view.removed,
    since: view.since === undefined ? null : JSON.stringify(view.since),
    until: view.until === undefined ? null : JSON.stringify(view.until),
    gaps: [],
  };
}

/** The write side, by hand. */
function createServer(harness: ReaderHarness) {
  const texts = new Map<string, string>();
  const live = new Map<LogKey, Set<number>>(LOGS.map((key) => [key, new Set()]));
  let nowMs = START_MS + 100_000;
  let version = 0;

  const hostOf = (log: LogKey) => (log === 'b' ? 'a.example' : `${log}.example`);
  const sortAtOf = (n: number, host: string) => START_MS + n * 500 + (host === 'c.example' ? 700 : 0);

  async function write(log: LogKey, kind: LogRecord['kind'], ns: readonly number[], lagMs: number) {
    if (ns.length === 0) return;
    const host = hostOf(log);
    version += 1;
    const changes = ns.map((n) => {
      const id = `${1000 + n}@${host}`;
      const text = kind === 'edit' || !texts.has(id) ? `version ${version}` : texts.get(id);
      texts.set(id, text ?? '');
      return { kind, n, uri: uriOf(n), host, text: text ?? '', sortAtMs: sortAtOf(n, host) };
    });
    await harness.write(log, nowMs - lagMs, changes);
  }

  return {
    texts,
    async happen(step: Step) {
      nowMs += 1;
      if (step.type === 'tick') nowMs += step.ms;
      if (step.type === 'add') {
        const ns = step.ns.filter((n) => !live.get(step.log)?.has(n));
        for (const n of ns) live.get(step.log)?.add(n);
        await write(step.log, 'entry', ns, step.lagMs);
      }
      if (step.type === 'edit') {
        // One version of a host's post for all of its logs, as its server has it.
        for (const host of new Set(LOGS.map(hostOf))) {
          const logs = LOGS.filter((key) => hostOf(key) === host && live.get(key)?.has(step.n));
          for (const log of logs) await write(log, 'edit', [step.n], step.lagMs);
        }
      }
      if (step.type === 'remove' && live.get(step.log)?.delete(step.n)) {
        await write(step.log, 'remove', [step.n], 0);
      }
    },
  };
}
