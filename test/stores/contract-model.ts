import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { comparePositions } from '../../src/ids/position.ts';
import type { Store } from '../../src/stores/store.ts';
import type { KnownEntry, LogRecord, NewRecord } from '../../src/stores/timeline-store.ts';
import { NOW, orderKey, sampleRecord } from './samples.ts';

const LOG = 'town';
const IDS = ['1', '2', '3', '4', '5', '6', '7', '8'];

/** A log against a model in plain JavaScript, over random commits, lifts and trims under a clock that jumps. */
export function describeModel(open: () => Promise<Store>): void {
  describe('a log and its model', () => {
    it('hold the same after any run of operations', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          const store = await open();
          try {
            const model = newModel();
            for (const next of steps) {
              await take(store, model, next);
              await compare(store, model);
            }
          } finally {
            await store.close();
          }
        }),
        { numRuns: 30 },
      );
    });
  });
}

const anyTime = fc.integer({ min: NOW - 50, max: NOW + 50 });
/** Some are the beginnings of others. */
const anyKey = fc
  .tuple(fc.nat(99), fc.constantFrom('', '0', '00', '0f', 'f'))
  .map(([place, suffix]) => orderKey(place) + suffix);
const anyPlace = fc.record({ postId: fc.constantFrom(...IDS), orderKey: anyKey });
const anyRecord = fc.record({ postId: fc.constantFrom(...IDS), removes: fc.boolean(), key: anyKey });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(
      fc.constant('commit' as const),
      anyTime,
      fc.array(anyRecord, { maxLength: 6 }),
      fc.array(anyPlace, { maxLength: 2 }),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('stale' as const), anyTime) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('lift' as const), anyTime, fc.nat(3)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('drop' as const)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('trim' as const), anyTime, fc.nat(9), fc.nat(8)) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Model {
  version: number;
  head: string | undefined;
  trimmedTo: string | undefined;
  floorKey: string | undefined;
  records: LogRecord[];
  known: Map<string, KnownEntry>;
}

async function take({ timelines }: Store, model: Model, step: Step): Promise<void> {
  if (step[0] === 'lift') {
    const position = `${step[1]}-${step[2]}`;
    await timelines.liftHead(LOG, position);
    if (model.head === undefined || comparePositions(position, model.head) > 0) model.head = position;
  } else if (step[0] === 'drop') {
    await timelines.dropLog(LOG);
    await dropModel(model, timelines);
  } else if (step[0] === 'trim') {
    const [, beforeMs, keepEntries, keepKnown] = step;
    await timelines.trim({ logId: LOG, beforeMs, keepEntries, keepKnown });
    trimModel(model, beforeMs, keepEntries, keepKnown);
  } else {
    const nowMs = step[1];
    const stale = step[0] === 'stale';
    const append = stale ? [sampleRecord('9')] : fitting(model, step[2], nowMs);
    const expectedVersion = model.version + (stale ? 1 : 0);
    const places = stale ? [{ postId: '1', orderKey: 'f' }] : step[3];
    const result = await timelines.commit({ logId: LOG, expectedVersion, nowMs, append, places, posts: [] });
    assert.equal(result.committed, !stale);
    if (!stale) commitToModel(model, append, nowMs);
    if (!stale) moveInModel(model, step[3]);
  }
}

/** Makes of each wish the record that fits what is known by then. */
function fitting(
  model: Model,
  wishes: readonly { postId: string; removes: boolean; key: string }[],
  nowMs: number,
): readonly NewRecord[] {
  const live = new Map([...model.known].map(([id, entry]) => [id, entry.removedAtMs === undefined]));
  return wishes.map(({ postId, removes, key }) => {
    const kind = !live.get(postId) ? 'entry' : removes ? 'remove' : 'edit';
    live.set(postId, kind !== 'remove');
    return sampleRecord(postId, { kind, orderKey: key, revision: `r${key}`, arrivedAtMs: nowMs });
  });
}

function commitToModel(model: Model, append: readonly NewRecord[], nowMs: number): void {
  model.version++;
  for (const record of append) {
    const { kind, postId, uri, upstreamId, arrivedAtMs, late, sortAtMs } = record;
    const { orderKey: key, revision } = record;
    const [headMs = -1, headN = 0] = model.head?.split('-').map(Number) ?? [];
    model.head = nowMs > headMs ? `${nowMs}-0` : `${headMs}-${headN + 1}`;
    const known = model.known.get(postId);
    if (kind === 'entry') {
      model.known.set(postId, { upstreamId, orderKey: key, revision, sortAtMs, arrivedAtMs });
    } else if (known) {
      const edited = { ...known, upstreamId, orderKey: key, revision };
      model.known.set(postId, kind === 'edit' ? edited : { ...known, removedAtMs: arrivedAtMs });
    }
    const { head: position } = model;
    if (kind !== 'edit') {
      model.records = model.records.map((old) =>
        old.postId === postId && old.kind === 'entry' ? { removedAt: position, ...old } : old,
      );
    }
    model.records.push({ logId: LOG, position, kind, postId, uri, sortAtMs, arrivedAtMs, late });
  }
}

async function dropModel(model: Model, timelines: Store['timelines']): Promise<void> {
  model.trimmedTo = model.records.at(-1)?.position ?? model.trimmedTo;
  model.floorKey = undefined;
  model.records = [];
  model.known.clear();
  const { version } = await timelines.readLog(LOG);
  assert.ok(version >= model.version);
  model.version = version;
}

function moveInModel({ known }: Model, places: readonly { postId: string; orderKey: string }[]): void {
  for (const { postId, orderKey: key } of places) {
    const entry = known.get(postId);
    if (entry && entry.removedAtMs === undefined) known.set(postId, { ...entry, orderKey: key });
  }
}

function trimModel(model: Model, beforeMs: number, keepEntries: number, keepKnown: number): void {
  const young = model.records.findIndex((record) => record.arrivedAtMs >= beforeMs);
  const entries = model.records.filter((record) => record.kind === 'entry');
  const excess = entries.length - keepEntries;
  const firstKept = entries[Math.max(0, excess)];
  const byCount = excess <= 0 ? 0 : firstKept ? model.records.indexOf(firstKept) : model.records.length;
  const dropped = model.records.splice(0, Math.max(young === -1 ? model.records.length : young, byCount));
  model.trimmedTo = dropped.at(-1)?.position ?? model.trimmedTo;

  const lowestFirst = [...model.known].sort(comparePlaces);
  const leaving = lowestFirst.slice(0, Math.max(0, model.known.size - keepKnown));
  for (const [id] of leaving) model.known.delete(id);
  const highest = leaving.at(-1)?.[1].orderKey;
  if (highest === undefined) return;
  model.version++;
  if (model.floorKey === undefined || highest > model.floorKey) model.floorKey = highest;
}

async function compare({ timelines }: Store, model: Model): Promise<void> {
  const { version, head, trimmedTo, floorKey } = await timelines.readLog(LOG);
  const { records, known, ...state } = model;
  assert.deepEqual({ version, head, trimmedTo, floorKey }, state);
  assert.deepEqual(await timelines.recordsAfter({ logId: LOG, limit: 999 }), records);
  assert.deepEqual(await timelines.known(LOG, IDS), new Map(IDS.flatMap((id) => knownOf(known, id))));

  const upTo = records[records.length >> 1]?.position ?? '0-0';
  const entries = records
    .filter(
      (record) =>
        record.kind === 'entry' && record.removedAt === undefined && comparePositions(record.position, upTo) <= 0,
    )
    .sort((a, b) => b.sortAtMs - a.sortAtMs || compareText(b.postId, a.postId));
  assert.deepEqual(await timelines.entriesBefore({ logId: LOG, upTo, limit: 999 }), entries);

  const under = [...known].filter(([, entry]) => entry.removedAtMs === undefined && entry.orderKey <= orderKey(50));
  const anchorKey = under
    .map(([, entry]) => entry.orderKey)
    .sort(compareText)
    .at(-1);
  assert.equal((await timelines.anchor(LOG, orderKey(50)))?.orderKey, anchorKey);

  const between = under
    .filter(([, entry]) => entry.orderKey > orderKey(20))
    .sort((a, b) => comparePlaces(b, a))
    .map(([postId, { upstreamId, orderKey: key }]) => ({ postId, upstreamId, orderKey: key }));
  const range = { logId: LOG, above: orderKey(20), upTo: orderKey(50) };
  assert.deepEqual(await timelines.knownBetween({ ...range, limit: 999 }), between);
  assert.deepEqual(await timelines.knownBetween({ ...range, limit: 2 }), between.slice(0, 2));
}

function knownOf(known: Model['known'], id: string): [string, KnownEntry][] {
  const entry = known.get(id);
  return entry ? [[id, entry]] : [];
}

function comparePlaces([a, x]: readonly [string, KnownEntry], [b, y]: readonly [string, KnownEntry]): number {
  return compareText(x.orderKey, y.orderKey) || compareText(a, b);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function newModel(): Model {
  const unset = { head: undefined, trimmedTo: undefined, floorKey: undefined };
  return { version: 0, ...unset, records: [], known: new Map() };
}
