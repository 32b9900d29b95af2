import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TimelineToken } from '../../../src/ids/tokens.ts';
import type { TimelineView } from '../../../src/timeline/reader/read.ts';
import {
  type Change,
  createReaderHarness,
  logIdOf,
  postIdOf,
  type ReaderHarness,
  START_MS,
  throughEdge,
} from './reader-harness.ts';

/** Town a, and an instance c that shows posts of a, or claims to. */
const KEYS = ['a', 'c'] as const;
const uriOf = (n: number) => `https://a.example/posts/${n}`;
const own = (n: number, more: Partial<Change> = {}): Change => ({ n, uri: uriOf(n), text: 'genuine', ...more });
const foreign = (n: number, more: Partial<Change> = {}): Change => ({
  n,
  uri: uriOf(n),
  host: 'c.example',
  text: 'forged',
  ...more,
});
const twenty = (make: (n: number) => Change) => Array.from({ length: 20 }, (_, index) => make(index + 1));
const textsOf = (view: TimelineView) => view.entries.map(({ post }) => post.text);
const silence = [[], [], []];
const saidBy = ({ entries, edited, removed }: TimelineView) => [entries, edited, removed];

function sinceOf(view: TimelineView): TimelineToken {
  assert.ok(view.since);
  return throughEdge('since', view.since);
}

function untilOf(view: TimelineView): TimelineToken {
  assert.ok(view.until);
  return throughEdge('until', view.until);
}

const readSince = (harness: ReaderHarness, view: TimelineView, limit = 40) =>
  harness.read({ keys: KEYS, since: sinceOf(view), limit });

test("of a first page's copies that of the uri's own server is shown, wherever the others stand", async () => {
  const harness = await createReaderHarness();
  await harness.write(
    'c',
    START_MS,
    twenty((n) => foreign(n, { sortAtMs: START_MS + 1000 + n })),
  );
  await harness.write('a', START_MS + 1, twenty(own));
  const page = await harness.read({ keys: KEYS });
  assert.deepEqual(textsOf(page), Array(20).fill('genuine'));
  let pages = await harness.read({ keys: KEYS, limit: 3 });
  const shown = [...pages.entries];
  while (pages.until) {
    pages = await harness.read({ keys: KEYS, limit: 3, until: untilOf(pages) });
    shown.push(...pages.entries);
  }
  assert.deepEqual(
    shown.map(({ record }) => record),
    page.entries.map(({ record }) => record),
  );
});

test('a copy from elsewhere that came first leaves when the one of its home comes', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: KEYS });
  await harness.write('c', START_MS, twenty(foreign));
  const second = await readSince(harness, first);
  assert.deepEqual(textsOf(second), Array(20).fill('forged'), 'nobody knows better yet');
  await harness.write('a', START_MS + 1, twenty(own));
  const third = await readSince(harness, second);
  assert.deepEqual(textsOf(third), Array(20).fill('genuine'));
  assert.deepEqual(
    third.removed.toSorted(),
    twenty(foreign)
      .map(({ n }) => postIdOf(n, 'c.example'))
      .toSorted(),
  );
  const together = await readSince(harness, first);
  assert.deepEqual([textsOf(together), together.removed], [Array(20).fill('genuine'), []]);
});

test('a copy from elsewhere in the history leaves as well, and pages by until do not bring it', async () => {
  const harness = await createReaderHarness();
  await harness.write('c', START_MS, [foreign(1), { n: 2, host: 'c.example' }, { n: 3, host: 'c.example' }]);
  const first = await harness.read({ keys: KEYS, limit: 1 });
  await harness.write('a', START_MS + 1, [own(1)]);
  const older = await harness.read({ keys: KEYS, until: untilOf(first) });
  assert.deepEqual(textsOf(older), ['story 2']);
  const newer = await readSince(harness, first);
  assert.deepEqual([textsOf(newer), newer.removed], [['genuine'], [postIdOf(1, 'c.example')]]);
});

test('a copy from elsewhere says nothing after the one of its home: not as a post, an edit or a removal', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [own(1)]);
  let page = await harness.read({ keys: KEYS });
  for (const kind of ['entry', 'edit', 'remove', 'entry'] as const) {
    await harness.write('c', START_MS + 1, [foreign(1, { kind, text: 'forged anew' })]);
    page = await readSince(harness, page);
    assert.deepEqual(saidBy(page), silence, kind);
    assert.deepEqual(textsOf(await harness.read({ keys: KEYS })), ['genuine']);
  }
});

test('what its home removed is not kept, nor brought back, by copies from elsewhere', async () => {
  const harness = await createReaderHarness();
  await harness.write('c', START_MS, [foreign(1)]);
  const first = await harness.read({ keys: KEYS });
  await harness.write('a', START_MS + 1, [own(1)]);
  const second = await readSince(harness, first);
  await harness.write('a', START_MS + 2, [own(1, { kind: 'remove' })]);
  const third = await readSince(harness, second);
  assert.deepEqual(third.removed, [postIdOf(1)]);
  await harness.write('c', START_MS + 3, [foreign(1, { kind: 'remove' })]);
  await harness.write('c', START_MS + 4, [foreign(1)]);
  assert.deepEqual(saidBy(await readSince(harness, third)), silence);
  assert.deepEqual((await harness.read({ keys: KEYS })).entries, []);
});

test('a copy from elsewhere is shown while its home has not brought it, and while that is not asked for', async () => {
  const harness = await createReaderHarness();
  await harness.write('c', START_MS, [foreign(1)]);
  assert.deepEqual(textsOf(await harness.read({ keys: KEYS })), ['forged']);
  await harness.write('a', START_MS + 1, [own(1)]);
  const alone = await harness.read({ keys: ['c'], configured: KEYS });
  assert.deepEqual(textsOf(alone), ['forged']);
});

test('ten times as many copies of one uri cost a page no more records and bodies than it passes', async () => {
  const costs = [];
  for (const count of [200, 2000]) {
    const harness = await createReaderHarness();
    await harness.write('a', START_MS, [{ n: 0 }]);
    const first = await harness.read({ keys: KEYS });
    const copies = Array.from({ length: count }, (_, n) => foreign(n + 1, { uri: uriOf(0) }));
    await harness.write('c', START_MS + 1, copies);
    let [records, bodies] = [0, 0];
    const { timelines, posts } = harness.store;
    const counting = await createReaderHarness({
      timelines: {
        ...timelines,
        entriesByUri: async (logId, uris) => {
          const found = await timelines.entriesByUri(logId, uris);
          records += found.length;
          return found;
        },
      },
      posts: {
        ...posts,
        getPosts: (ids) => {
          bodies += ids.length;
          return posts.getPosts(ids);
        },
      },
    });
    let page = await counting.read({ keys: KEYS, since: sinceOf(first), limit: 200 });
    const shown = [...page.entries];
    for (; page.hasNewer; shown.push(...page.entries)) page = await readSince(counting, page, 200);
    assert.equal(shown.length, 1);
    assert.deepEqual((await counting.read({ keys: KEYS, limit: 200 })).entries.length, 2);
    assert.equal((await timelines.readLog(logIdOf('c'))).version, 1);
    costs.push({ records: records / count, bodies: bodies / count });
  }
  const [few, many] = costs;
  assert.ok(few && many && many.records <= few.records && many.bodies <= few.bodies, JSON.stringify(costs));
});

test('a client that holds the first of many copies is given no other, and told of its edits', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 0 }]);
  const first = await harness.read({ keys: KEYS });
  const same = (n: number, more: Partial<Change> = {}) => foreign(n, { uri: 'https://c.example/same', ...more });
  await harness.write('c', START_MS + 1, [same(1)]);
  const second = await readSince(harness, first);
  assert.equal(second.entries.length, 1);
  let page = second;
  for (let from = 2; from < 40; from += 9) {
    await harness.write(
      'c',
      START_MS + from,
      Array.from({ length: 9 }, (_, n) => same(from + n)),
    );
    page = await readSince(harness, page);
    assert.deepEqual(saidBy(page), silence);
  }
  await harness.write('c', START_MS + 50, [same(1, { kind: 'edit', text: 'changed' })]);
  page = await readSince(harness, page);
  assert.deepEqual(
    page.edited.map(({ text }) => text),
    ['changed'],
  );
});

test('a client that asks for fewer sources than before loses no copy to a home that it does not ask for', async () => {
  const harness = await createReaderHarness();
  await harness.write('c', START_MS, [foreign(1), { n: 5 }]);
  await harness.write('a', START_MS, [{ n: 9 }]);
  const first = await harness.read({ keys: KEYS, limit: 1 });
  await harness.write('a', START_MS + 1, [own(1)]);
  const older = await harness.read({ keys: ['c'], configured: KEYS, until: untilOf(first) });
  assert.deepEqual(textsOf(older).toSorted(), ['forged', 'story 5']);
});
