import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type MergeablePage, mergeTimeline } from '../src/merge-timeline.ts';

interface Entry {
  readonly sortAt: string;
  readonly cursor: string;
  readonly post: { readonly id: string; readonly text: string };
}
type Page = MergeablePage<Entry, string>;

const entry = (second: number, id: string, text = 'first'): Entry => ({
  sortAt: new Date(1_790_000_000_000 + second * 1000).toISOString(),
  cursor: `cursor of ${id}`,
  post: { id, text },
});
const page = (over: Partial<Page>): Page => ({
  entries: [],
  edited: [],
  removed: [],
  since: null,
  until: null,
  gaps: [],
  ...over,
});
const first = page({ entries: [entry(3, 'c'), entry(2, 'b')], since: 's1', until: 'u1', gaps: ['g1'] });
const ids = (state: { readonly entries: readonly Entry[] }) => state.entries.map(({ post }) => post.id);

test('a page without a token replaces what was there', () => {
  const old = mergeTimeline<Entry, string>(undefined, page({ entries: [entry(9, 'z')], since: 's0', until: 'u0' }));
  assert.deepEqual(mergeTimeline(old, first), { entries: first.entries, since: 's1', until: 'u1', gaps: ['g1'] });
});

test('a first page with nothing older has no until', () => {
  assert.equal(mergeTimeline<Entry, string>(undefined, page({ since: 's1' })).until, null);
});

test('a page by since puts its entries where they belong, and keeps until', () => {
  const newer = page({ entries: [entry(1, 'late'), entry(4, 'd')], since: 's2', gaps: [] });
  const state = mergeTimeline(mergeTimeline(undefined, first), newer);
  assert.deepEqual(ids(state), ['d', 'c', 'b', 'late']);
  assert.deepEqual([state.since, state.until, state.gaps], ['s2', 'u1', []]);
});

test('a page by until is put below, and keeps since, with the gaps that it told', () => {
  const older = page({ entries: [entry(1, 'a')], until: 'u2' });
  const state = mergeTimeline(mergeTimeline(undefined, first), older);
  assert.deepEqual([ids(state), state.since, state.until], [['c', 'b', 'a'], 's1', 'u2']);
  assert.deepEqual(state.gaps, ['g1']);
  assert.equal(mergeTimeline(state, page({})).until, null);
});

test('entries of one time are ordered by post id, descending', () => {
  const state = mergeTimeline(undefined, page({ entries: [entry(1, 'a'), entry(1, 'c'), entry(1, 'b')], since: 's' }));
  assert.deepEqual(ids(state), ['c', 'b', 'a']);
});

test('an edited post is replaced in place, and one that is not there is left alone', () => {
  const edited = [
    { id: 'b', text: 'second' },
    { id: 'x', text: 'unknown' },
  ];
  const state = mergeTimeline(mergeTimeline(undefined, first), page({ edited, since: 's2' }));
  assert.deepEqual(state.entries, [entry(3, 'c'), entry(2, 'b', 'second')]);
});

test('a removed post is dropped', () => {
  const state = mergeTimeline(mergeTimeline(undefined, first), page({ removed: ['c', 'x'], since: 's2' }));
  assert.deepEqual(ids(state), ['b']);
});

test('a post that comes again is there once, as it came last', () => {
  const state = mergeTimeline(mergeTimeline(undefined, first), page({ entries: [entry(2, 'b', 'back')], since: 's2' }));
  assert.deepEqual(state.entries, [entry(3, 'c'), entry(2, 'b', 'back')]);
});

test('the state and the page stay as they were', () => {
  const state = Object.freeze(mergeTimeline(undefined, first));
  Object.freeze(state.entries);
  mergeTimeline(state, Object.freeze(page({ entries: [entry(4, 'd')], removed: ['c'], since: 's2' })));
  assert.deepEqual(ids(state), ['c', 'b']);
});

const id = fc.constantFrom(...'abcdefgh');
const someEntries = fc
  .uniqueArray(id, { maxLength: 5 })
  .map((chosen) => chosen.map((each) => entry(each.charCodeAt(0) % 4, each)));
const pages = fc.array(
  fc.oneof(
    someEntries.map((entries) => page({ entries, since: 's', until: 'u' })),
    fc
      .record({ entries: someEntries, edited: fc.uniqueArray(id), removed: fc.uniqueArray(id) })
      .map(({ entries, edited, removed }) =>
        page({ entries, edited: edited.map((each) => ({ id: each, text: 'second' })), removed, since: 's' }),
      ),
    someEntries.map((entries) => page({ entries, until: 'u' })),
  ),
);

test('after any pages every post is there once, in order, and the last page twice changes nothing', () => {
  fc.assert(
    fc.property(pages, (all) => {
      const [start, ...rest] = all;
      if (start === undefined) return;
      const state = rest.reduce(mergeTimeline<Entry, string>, mergeTimeline<Entry, string>(undefined, start));
      const keys = state.entries.map((each) => `${each.sortAt} ${each.post.id}`);
      assert.deepEqual(keys, [...new Set(keys)].sort().reverse());
      assert.deepEqual(mergeTimeline(state, all.at(-1) ?? start), state);
    }),
  );
});
