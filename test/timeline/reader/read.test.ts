import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TimelineToken } from '../../../src/ids/tokens.ts';
import { logTag } from '../../../src/ids/tokens.ts';
import type { Store } from '../../../src/stores/store.ts';
import type { TimelineView } from '../../../src/timeline/reader/read.ts';
import {
  type Change,
  createReaderHarness,
  KEEP_MS,
  logIdOf,
  postIdOf,
  START_MS,
  throughEdge,
  uriOf,
} from './reader-harness.ts';

const numbers = (from: number, to: number): Change[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ n: from + index }));
const idsOf = (view: TimelineView) => view.entries.map((entry) => entry.record.postId);
const ids = (...ns: number[]) => ns.map((n) => postIdOf(n));

function sinceOf(view: TimelineView): TimelineToken {
  assert.ok(view.since);
  return throughEdge('since', view.since);
}

function untilOf(view: TimelineView): TimelineToken {
  assert.ok(view.until);
  return throughEdge('until', view.until);
}

function stateOf(token: TimelineToken | undefined, key: string) {
  return token?.sources.find((source) => source.tag === logTag(logIdOf(key)));
}

test('a page without a token is the newest entries in display order, with both tokens', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 5));
  const page = await harness.read({ keys: ['a'], limit: 2 });
  assert.deepEqual(idsOf(page), ids(5, 4));
  assert.equal(page.entries[0]?.source.key, 'a');
  assert.equal(page.entries[0]?.post.text, 'story 5');
  assert.equal(page.hasNewer, false);
  const bounds = [{ tag: logTag(logIdOf('a')), joined: `${START_MS}-4`, passed: `${START_MS}-4`, history: true }];
  assert.deepEqual(page.since, { sources: bounds });
  assert.deepEqual(page.until, { sources: bounds, at: { sortAtMs: START_MS + 4, postId: postIdOf(4) } });
});

test('posts of one time are ordered by post id, descending, over all logs', async () => {
  const harness = await createReaderHarness();
  const sortAtMs = START_MS;
  await harness.write('a', START_MS, [
    { n: 1, sortAtMs },
    { n: 3, sortAtMs },
  ]);
  await harness.write('b', START_MS, [
    { n: 2, sortAtMs },
    { n: 4, sortAtMs: sortAtMs - 1 },
  ]);
  const page = await harness.read({ keys: ['a', 'b'], limit: 2 });
  assert.deepEqual(idsOf(page), ids(3, 2));
  assert.deepEqual(idsOf(await harness.read({ keys: ['a', 'b'], until: untilOf(page) })), ids(1, 4));
});

test('pages by until reach all that came before, and the last one has no until', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 4));
  const first = await harness.read({ keys: ['a'], limit: 2 });
  const second = await harness.read({ keys: ['a'], limit: 2, until: untilOf(first) });
  assert.deepEqual(idsOf(second), ids(2, 1));
  assert.equal(second.until, undefined);
  assert.equal(second.since, undefined);
  assert.equal(second.hasNewer, false);
});

test('an until that only leads to repeats is not given', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS - 50 }]);
  const page = await harness.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(page), [postIdOf(1)]);
  assert.equal(page.until, undefined);
});

test('what arrived after the first page comes by since alone', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 3));
  const first = await harness.read({ keys: ['a'], limit: 1 });
  await harness.write('a', START_MS + 10, [{ n: 0 }, { n: 4 }]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a'], until: untilOf(first) })), ids(2, 1));
  assert.deepEqual(idsOf(await harness.read({ keys: ['a'], since: sinceOf(first) })), ids(4, 0));
});

test('a page by since takes the oldest records, newest first inside the page, until nothing is newer', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 5));
  const pages: (readonly string[])[] = [];
  let page = first;
  do {
    page = await harness.read({ keys: ['a'], limit: 2, since: sinceOf(page) });
    pages.push(idsOf(page));
    assert.equal(page.until, undefined);
  } while (page.hasNewer);
  assert.deepEqual(pages, [ids(2, 1), ids(4, 3), ids(5)]);
});

test('hasNewer is false when the page ends exactly at the head', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 2));
  assert.equal((await harness.read({ keys: ['a'], limit: 2, since: sinceOf(first) })).hasNewer, false);
});

test('logs are merged by position, then by tag', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 5, numbers(1, 2));
  await harness.write('b', START_MS, [{ n: 3, host: 'b.example' }]);
  await harness.write('b', START_MS + 5, [{ n: 4, host: 'b.example' }]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  const tied = logTag(logIdOf('a')) < logTag(logIdOf('b')) ? [1, 4] : [4, 1];
  assert.deepEqual(
    page.entries.map((entry) => entry.record.uri),
    [3, ...tied, 2].map(uriOf).reverse(),
  );
});

test('a first page of a log that holds nothing yet joins it at its start, and loses nothing', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  assert.deepEqual(first.entries, []);
  assert.equal(first.until, undefined);
  const state = stateOf(first.since, 'a');
  assert.deepEqual([state?.joined, state?.passed, state?.history], ['0-0', '0-0', true]);
  await harness.write('a', START_MS, [{ n: 1 }]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a'], since: sinceOf(first) })), ids(1));
});

test('a source that is new to the cursor joins at its head, without its history', async () => {
  const harness = await createReaderHarness();
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await harness.read({ keys: ['a'] });
  const second = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(second.entries, []);
  const state = stateOf(second.since, 'b');
  assert.deepEqual([state?.joined, state?.passed, state?.history], [`${START_MS}-0`, `${START_MS}-0`, false]);
  await harness.write('b', START_MS + 1, [{ n: 2, host: 'b.example' }]);
  const third = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(idsOf(third), [postIdOf(2, 'b.example')]);
});

test('a copy that lies before where its source joined makes no repeat', async () => {
  const harness = await createReaderHarness();
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await harness.read({ keys: ['a'] });
  const second = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await harness.write('a', START_MS + 1, [{ n: 1 }]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a', 'b'], since: sinceOf(second) })), ids(1));
});

test('a source that was left out goes on where it was', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS, [{ n: 1 }]);
  await harness.write('b', START_MS, [{ n: 2, host: 'b.example' }]);
  const second = await harness.read({ keys: ['a'], configured: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(second), ids(1));
  assert.deepEqual(stateOf(second.since, 'b'), stateOf(first.since, 'b'));
  const third = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(idsOf(third), [postIdOf(2, 'b.example')]);
});

test('a source that may not be read any more is dropped from the token', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  const second = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual(
    second.since?.sources.map((source) => source.tag),
    [logTag(logIdOf('a'))],
  );
});

test('a query that would make a token of more than 50 sources is refused, and drops none', async () => {
  const harness = await createReaderHarness();
  const keys = Array.from({ length: 50 }, (_, index) => `s${index}`);
  const first = await harness.read({ keys });
  const since = sinceOf(first);
  await assert.rejects(harness.read({ keys: ['new'], configured: [...keys, 'new'], since }), {
    code: 'BAD_USER_INPUT',
    argument: 'sources',
    message: /^sources and the other sources of this token must be at most 50 together, got 51: .*a token of their own/,
  });
  assert.equal(harness.refreshed.length, 1);
  const gone = await harness.read({ keys: ['new'], configured: [...keys.slice(1), 'new'], since });
  assert.equal(gone.since?.sources.length, 50);
  assert.ok(stateOf(gone.since, 'new'));
  const tags = gone.since?.sources.map((source) => source.tag);
  assert.deepEqual(tags, tags?.toSorted());
});

test('two keys of one log are read once', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const page = await harness.read({ keys: ['a', 'a'] });
  assert.deepEqual(idsOf(page), ids(1));
  assert.equal(page.since?.sources.length, 1);
});

test('a copy of what was given before is a repeat, and the page is refilled', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('b', START_MS + 1, [
    { n: 1, host: 'b.example' },
    { n: 2, host: 'b.example' },
    { n: 3, host: 'b.example' },
  ]);
  await harness.write('a', START_MS + 9, [{ n: 2 }]);
  const page = await harness.read({ keys: ['a', 'b'], limit: 2, since: sinceOf(first) });
  assert.deepEqual(idsOf(page), [postIdOf(3, 'b.example'), postIdOf(2, 'b.example')]);
  assert.equal(page.hasNewer, true);
  const next = await harness.read({ keys: ['a', 'b'], limit: 2, since: sinceOf(page) });
  assert.deepEqual([next.entries, next.hasNewer], [[], false]);
});

test('a copy in a source that is left out now still makes a repeat', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('b', START_MS + 1, [{ n: 1, host: 'b.example' }]);
  const page = await harness.read({ keys: ['b'], configured: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(page.entries, []);
});

test('a copy in a source that may not be read any more makes no repeat', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('b', START_MS + 1, [{ n: 1, host: 'b.example' }]);
  const page = await harness.read({ keys: ['b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(page), [postIdOf(1, 'b.example')]);
});

test('of copies in the history the highest is shown, also when it stands on an earlier page', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [
    { n: 1, sortAtMs: START_MS + 5 },
    { n: 9, sortAtMs: START_MS + 1 },
  ]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(first), ids(1));
  assert.deepEqual(idsOf(await harness.read({ keys: ['a', 'b'], until: untilOf(first) })), ids(9));
  const alone = await harness.read({ keys: ['b'], configured: ['a', 'b'], until: untilOf(first) });
  assert.deepEqual(alone.entries, []);
});

test('a lower copy is shown when the higher one stands below in a source that is left out', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [
    { n: 9, sortAtMs: START_MS + 9 },
    { n: 1, sortAtMs: START_MS + 5 },
  ]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(first), ids(9));
  const page = await harness.read({ keys: ['b'], configured: ['a', 'b'], until: untilOf(first) });
  assert.deepEqual(idsOf(page), [postIdOf(1, 'b.example')]);
});

test('the same post in two timelines of one server is shown once', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 2));
  await harness.write('b', START_MS, numbers(1, 2));
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  const second = await harness.read({ keys: ['a', 'b'], limit: 1, until: untilOf(first) });
  assert.deepEqual([idsOf(first), idsOf(second), second.until], [ids(2), ids(1), undefined]);
});

test('the same post in another timeline of its server is a repeat, and no edit', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('b', START_MS + 1, [{ n: 1 }]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.edited, page.removed, page.hasNewer], [[], [], [], false]);
});

test('an edit of a post that was given before comes once, in its present form', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS + 1, [{ kind: 'edit', n: 1, text: 'second' }]);
  await harness.write('a', START_MS + 2, [{ kind: 'edit', n: 1, text: 'third' }]);
  const page = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual(page.entries, []);
  assert.deepEqual(
    page.edited.map((post) => post.text),
    ['third'],
  );
});

test('edits follow a copy of the history before one that came by since, wherever that stands', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS + 9, [{ n: 1, sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b', 'c'] });
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS + 5 }]);
  await harness.write('c', START_MS, [{ n: 1, host: 'c.example', sortAtMs: START_MS - 5 }]);
  const second = await harness.read({ keys: ['a', 'b', 'c'], since: sinceOf(first) });
  await harness.write('b', START_MS + 10, [{ kind: 'edit', n: 1, host: 'b.example', text: 'unseen' }]);
  await harness.write('c', START_MS + 10, [{ kind: 'edit', n: 1, host: 'c.example', text: 'unseen' }]);
  await harness.write('a', START_MS + 10, [{ kind: 'edit', n: 1, text: 'seen' }]);
  const told = await harness.read({ keys: ['a', 'b', 'c'], since: sinceOf(second) });
  assert.deepEqual(
    told.edited.map((post) => post.text),
    ['seen'],
  );
});

test('an edit of a post whose entry is on the same page is not told apart', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, [{ n: 1 }]);
  await harness.write('a', START_MS + 1, [{ kind: 'edit', n: 1, text: 'second' }]);
  const page = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([page.entries.map((entry) => entry.post.text), page.edited], [['second'], []]);
});

test('edits follow the copy that was given first, in the history the highest', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1, sortAtMs: START_MS }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS + 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  assert.deepEqual(idsOf(first), [postIdOf(1, 'b.example')]);
  await harness.write('a', START_MS + 2, [{ kind: 'edit', n: 1, text: 'unseen' }]);
  const silent = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([silent.edited, silent.hasNewer], [[], false]);
  await harness.write('b', START_MS + 3, [{ kind: 'edit', n: 1, host: 'b.example', text: 'seen' }]);
  const told = await harness.read({ keys: ['a', 'b'], since: sinceOf(silent) });
  assert.deepEqual(
    told.edited.map((post) => post.text),
    ['seen'],
  );
});

const told = ({ entries, edited, removed }: TimelineView) => [
  entries.map(({ record }) => record.postId),
  edited.map(({ id, text }) => [id, text]),
  removed,
];
const OTHER = postIdOf(1, 'b.example');

test('of copies that came by since each one that was edited is told, under its own id: the client has one of them', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 1, [{ n: 1 }]);
  await harness.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  const second = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(second), ids(1));
  await harness.write('b', START_MS + 3, [{ kind: 'edit', n: 1, host: 'b.example', text: 'of b' }]);
  const third = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(told(third), [[], [[OTHER, 'of b']], []]);
  await harness.write('a', START_MS + 4, [{ kind: 'edit', n: 1, text: 'of a' }]);
  const both = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(told(both), [
    [],
    [
      [postIdOf(1), 'of a'],
      [OTHER, 'of b'],
    ],
    [],
  ]);
  const one = await harness.read({ keys: ['a', 'b'], limit: 1, since: sinceOf(second) });
  assert.deepEqual(told(one), told(third));
});

test('a copy of a clock that was late gives nothing and removes nothing, although it now comes first', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('b', START_MS + 9, [{ n: 1, host: 'b.example' }]);
  const second = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(second), [OTHER]);
  await harness.write('a', START_MS + 1, [{ n: 1 }]);
  const third = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(told(third), [[], [], []]);
  await harness.write('b', START_MS + 10, [{ kind: 'edit', n: 1, host: 'b.example', text: 'second' }]);
  const fourth = await harness.read({ keys: ['a', 'b'], since: sinceOf(third) });
  assert.deepEqual(told(fourth), [[], [[OTHER, 'second']], []]);
});

test('a copy in a source that was left out gives nothing and removes nothing when that is asked for again', async () => {
  const harness = await createReaderHarness();
  const configured = ['a', 'b'];
  const first = await harness.read({ keys: configured });
  await harness.write('a', START_MS + 1, [{ n: 1 }]);
  await harness.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  const second = await harness.read({ keys: ['b'], configured, since: sinceOf(first) });
  assert.deepEqual(idsOf(second), [OTHER]);
  const third = await harness.read({ keys: configured, since: sinceOf(second) });
  assert.deepEqual(told(third), [[], [], []]);
});

test('a copy that came by since and falls is removed from every screen, and the first that stood stays', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 1, [{ n: 1 }]);
  await harness.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  const second = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await harness.write('b', START_MS + 3, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  const third = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(told(third), [[], [], [OTHER]]);
});

test('when the first of the copies that came by since falls, the next is given, in the place of any other', async () => {
  const harness = await createReaderHarness();
  const keys = ['a', 'b', 'c'];
  const first = await harness.read({ keys });
  await harness.write('a', START_MS + 1, [{ n: 1 }]);
  await harness.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  await harness.write('c', START_MS + 3, [{ n: 1, host: 'c.example' }]);
  const second = await harness.read({ keys, since: sinceOf(first) });
  await harness.write('a', START_MS + 4, [{ kind: 'remove', n: 1 }]);
  const third = await harness.read({ keys, since: sinceOf(second) });
  assert.deepEqual(told(third), [[OTHER], [], [postIdOf(1), postIdOf(1, 'c.example')]]);
});

test('an edit of a post that the cursor was never given is passed in silence', async () => {
  const harness = await createReaderHarness();
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await harness.read({ keys: ['a'] });
  const joined = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await harness.write('b', START_MS + 1, [{ kind: 'edit', n: 1, host: 'b.example', text: 'second' }]);
  await harness.write('b', START_MS + 2, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(joined) });
  assert.deepEqual([page.entries, page.edited, page.removed, page.hasNewer], [[], [], [], false]);
});

test('pages without a token and by until show present forms and leave out what was removed', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 4));
  const first = await harness.read({ keys: ['a'], limit: 1 });
  await harness.write('a', START_MS + 1, [
    { kind: 'edit', n: 2, text: 'second' },
    { kind: 'remove', n: 3 },
  ]);
  const older = await harness.read({ keys: ['a'], limit: 2, until: untilOf(first) });
  assert.deepEqual(
    older.entries.map((entry) => entry.post.text),
    ['second', 'story 1'],
  );
  assert.deepEqual([older.edited, older.removed], [[], []]);
});

test('a removal of a post that was given before is told', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const page = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.removed], [[], ids(1)]);
});

test('a post that was added and removed within one page is not told', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 2));
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const page = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.removed], [ids(2), []]);
});

test('when the copy that is held falls, another one takes its place, also of a source that is left out', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1, sortAtMs: START_MS + 1 }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  assert.deepEqual(idsOf(first), ids(1));
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  for (const keys of [['a', 'b'], ['a']]) {
    const page = await harness.read({ keys, configured: ['a', 'b'], since: sinceOf(first) });
    assert.deepEqual([idsOf(page), page.removed], [[postIdOf(1, 'b.example')], ids(1)]);
    assert.equal(page.entries[0]?.source.key, 'b');
  }
});

test('what happens to the copy that took the place of another is told under its own id', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1, sortAtMs: START_MS + 1 }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const second = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await harness.write('b', START_MS + 2, [{ kind: 'edit', n: 1, host: 'b.example', text: 'second' }]);
  const third = await harness.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(
    third.edited.map(({ id, text }) => [id, text]),
    [[postIdOf(1, 'b.example'), 'second']],
  );
  await harness.write('b', START_MS + 3, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  const fourth = await harness.read({ keys: ['a', 'b'], since: sinceOf(third) });
  assert.deepEqual([fourth.entries, fourth.removed], [[], [postIdOf(1, 'b.example')]]);
});

test('a copy whose removal lies ahead is still the one that is held: no other is given or edited before', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1, sortAtMs: START_MS + 1 }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('b', START_MS + 1, [{ kind: 'edit', n: 1, host: 'b.example', text: 'second' }]);
  await harness.write('a', START_MS + 2, [{ kind: 'remove', n: 1 }]);
  const ahead = await harness.read({ keys: ['b'], configured: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([ahead.entries, ahead.edited, ahead.removed], [[], [], []]);
  const passed = await harness.read({ keys: ['a', 'b'], since: sinceOf(ahead) });
  assert.deepEqual([idsOf(passed), passed.removed], [[postIdOf(1, 'b.example')], ids(1)]);
});

test('of two copies that fall on one page the one that is held is told', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1, sortAtMs: START_MS + 1 }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  await harness.write('b', START_MS + 2, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.removed], [[], ids(1)]);
});

test('a page by until shows no other copy in the place of one whose removal lies after its bounds: since brings it', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [
    { n: 9, sortAtMs: START_MS + 9 },
    { n: 1, sortAtMs: START_MS + 1 },
  ]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(first), ids(9));
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const older = await harness.read({ keys: ['a', 'b'], until: untilOf(first) });
  assert.deepEqual(older.entries, []);
  const newer = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([idsOf(newer), newer.removed], [[postIdOf(1, 'b.example')], ids(1)]);
});

test('a copy whose body was lost leaves for one that can be shown, and none is given twice', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  const { timelines, posts } = harness.store;
  const getPosts: Store['posts']['getPosts'] = async (wanted) => {
    const found = new Map(await posts.getPosts(wanted));
    found.delete(postIdOf(1));
    return found;
  };
  const lossy = await createReaderHarness({ timelines, posts: { ...posts, getPosts } });
  await harness.write('a', START_MS + 1, [{ kind: 'edit', n: 1 }]);
  const silent = await lossy.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([silent.entries, silent.edited, silent.removed], [[], [], []]);
  await harness.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  const page = await lossy.read({ keys: ['a', 'b'], since: sinceOf(silent) });
  assert.deepEqual([idsOf(page), page.removed], [[postIdOf(1, 'b.example')], ids(1)]);
});

test('a copy that stands before where its source joined takes no place: this cursor was never given it', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  await harness.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await harness.read({ keys: ['a'] });
  const joined = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(joined) });
  assert.deepEqual([page.entries, page.removed], [[], ids(1)]);
  await harness.write('b', START_MS + 2, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  assert.deepEqual((await harness.read({ keys: ['a', 'b'], since: sinceOf(page) })).removed, []);
});

test('a removed post that comes back is given again', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  await harness.write('a', START_MS + 2, [{ n: 1, text: 'back' }]);
  const together = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([idsOf(together), together.removed], [ids(1), []]);
  const removal = await harness.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.deepEqual([idsOf(removal), removal.removed, removal.hasNewer], [[], ids(1), true]);
  const back = await harness.read({ keys: ['a'], since: sinceOf(removal) });
  assert.deepEqual([back.entries.map((entry) => entry.post.text), back.removed], [['back'], []]);
});

test('a copy that takes the place of a removed one comes with its removal', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  await harness.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.removed], [[postIdOf(1, 'b.example')], ids(1)]);
});

test('limit counts entries, edits and removals together', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 2));
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS + 1, [
    { kind: 'edit', n: 1, text: 'second' },
    { kind: 'remove', n: 2 },
    { n: 3 },
    { n: 4 },
  ]);
  const page = await harness.read({ keys: ['a'], limit: 3, since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.edited.length, page.removed, page.hasNewer], [ids(3), 1, ids(2), true]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a'], since: sinceOf(page) })), ids(4));
});

test('a post whose body was lost is left out and its place refilled', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 4), { posts: [] });
  assert.deepEqual((await harness.read({ keys: ['a'] })).entries, []);
  const lost = await harness.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.deepEqual([lost.entries, lost.hasNewer], [[], false]);
  await harness.write('a', START_MS + 1, numbers(5, 5));
  await harness.write('a', START_MS + 2, numbers(6, 6), { posts: [] });
  await harness.write('a', START_MS + 3, numbers(7, 7));
  const page = await harness.read({ keys: ['a'], limit: 2 });
  assert.deepEqual([idsOf(page), page.until], [ids(7, 5), undefined]);
});

test('an entry cursor goes on after its entry as since, and back from it as until', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 3));
  const first = await harness.read({ keys: ['a', 'b'] });
  await harness.write('a', START_MS + 1, numbers(4, 5));
  await harness.write('b', START_MS + 2, [
    { n: 6, host: 'b.example' },
    { n: 7, host: 'b.example' },
  ]);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  const token = page.entries[1]?.token;
  assert.ok(token);
  const cursor = throughEdge('entry', token);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a', 'b'], since: cursor })), [postIdOf(7, 'b.example')]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a', 'b'], until: cursor })), ids(5, 4, 3, 2, 1));
  const middle = first.entries[1]?.token;
  assert.ok(middle);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a', 'b'], until: throughEdge('entry', middle) })), ids(1));
  const after = await harness.read({ keys: ['a', 'b'], since: throughEdge('entry', middle) });
  assert.deepEqual(idsOf(after), idsOf(page));
});

test('a long run of repeats ends the page early, with hasNewer and a token that goes on', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 1500));
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  const copies = numbers(1, 1501).map((change) => ({ ...change, host: 'b.example' }));
  await harness.write('b', START_MS + 1, copies);
  const page = await harness.read({ keys: ['a', 'b'], limit: 1, since: sinceOf(first) });
  assert.deepEqual([page.entries, page.hasNewer], [[], true]);
  const next = await harness.read({ keys: ['a', 'b'], limit: 1, since: sinceOf(page) });
  assert.deepEqual([idsOf(next), next.hasNewer], [[postIdOf(1501, 'b.example')], false]);
});

test('a long run of lost bodies ends a page by until early, with an until that goes on', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 0 }]);
  await harness.write('a', START_MS, numbers(1, 1500), { posts: [] });
  const first = await harness.read({ keys: ['a'], limit: 1 });
  assert.deepEqual(first.entries, []);
  const second = await harness.read({ keys: ['a'], limit: 1, until: untilOf(first) });
  assert.deepEqual([idsOf(second), second.until], [ids(0), undefined]);
});

const heavy = (from: number, to: number): Change[] =>
  numbers(from, to).map((change) => ({ ...change, text: 'x'.repeat(50_000) }));

test('a page by since ends when its posts reach 4 MB, edits counted, and the pages together are the same', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, heavy(1, 50));
  const first = await harness.read({ keys: ['a'], limit: 1 });
  const edits = heavy(1, 50).map((change) => ({ ...change, kind: 'edit' as const, text: `${change.text}!` }));
  await harness.write('a', START_MS + 1, [...edits, ...heavy(51, 100)]);
  const counts: number[] = [];
  const told: string[] = [];
  for (let page = first; counts.length === 0 || page.hasNewer; ) {
    page = await harness.read({ keys: ['a'], limit: 200, since: sinceOf(page) });
    counts.push(page.entries.length + page.edited.length);
    told.push(...page.edited.map(({ id }) => id), ...idsOf(page).reverse());
  }
  assert.deepEqual(told, ids(...numbers(1, 100).map(({ n }) => n)));
  // A post is its text twice, and some hundred bytes.
  assert.deepEqual(counts, [40, 40, 20]);
});

test('pages by display order end when their posts reach 4 MB, and leave nothing out', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, heavy(1, 100));
  let page = await harness.read({ keys: ['a'], limit: 200 });
  const counts = [page.entries.length];
  const shown = idsOf(page).slice();
  while (page.until) {
    page = await harness.read({ keys: ['a'], limit: 200, until: untilOf(page) });
    counts.push(page.entries.length);
    shown.push(...idsOf(page));
  }
  assert.deepEqual(shown, ids(...numbers(1, 100).map(({ n }) => n)).reverse());
  assert.deepEqual(counts, [40, 40, 20]);
});

test('a post that is larger than a page has one of its own', async () => {
  const harness = await createReaderHarness({}, 1);
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 3));
  const page = await harness.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.hasNewer], [ids(1), true]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a'] })), ids(3));
});

test('a run of repeats with large bodies ends the page when 16 MB of them are read', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, heavy(1, 1000));
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  const repeats = numbers(1, 1000).map((change) => ({ ...change, host: 'b.example' }));
  await harness.write('b', START_MS + 1, repeats);
  let read = 0;
  const { timelines, posts } = harness.store;
  const getPosts: Store['posts']['getPosts'] = (wanted) => {
    read += wanted.length;
    return posts.getPosts(wanted);
  };
  const counting = await createReaderHarness({ timelines, posts: { ...posts, getPosts } });
  const page = await counting.read({ keys: ['a', 'b'], limit: 100, since: sinceOf(first) });
  assert.deepEqual([page.entries, page.hasNewer], [[], true]);
  assert.equal(read, 360, 'of 60 and then 40 stories at a time, a large one and a small one each');
});

test("an entry's token is made when it is asked for, once", async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 3));
  const page = await harness.read({ keys: ['a'], since: sinceOf(first) });
  for (const entry of page.entries) {
    assert.ok(Object.getOwnPropertyDescriptor(entry, 'token')?.get);
    assert.equal(entry.token, entry.token);
  }
  assert.deepEqual(
    page.entries.map(({ token }) => token.sources.map(({ passed }) => passed)),
    page.entries.map(({ record }) => [record.position]),
  );
});

test('a position above the head lifts the head, and nothing is new', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, [{ n: 1 }]);
  const ahead = `${START_MS + 1000}-7`;
  const token = { sources: [{ tag: logTag(logIdOf('a')), joined: `${START_MS}-0`, passed: ahead, history: true }] };
  const page = await harness.read({ keys: ['a'], since: token });
  assert.deepEqual([page.entries, page.hasNewer, page.since], [[], false, token]);
  assert.equal(await harness.head('a'), ahead);
  await harness.write('a', START_MS + 1, [{ n: 2 }]);
  assert.deepEqual(idsOf(await harness.read({ keys: ['a'], since: sinceOf(page) })), ids(2));
});

test('a since below the tail starts at the tail, and its cursor tells what it missed, under one id, until that is old', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 2));
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS + 1000, numbers(3, 5));
  const trim = { logId: logIdOf('a'), beforeMs: 0, keepEntries: 2, keepKnown: 1000 };
  await harness.store.timelines.trim(trim);
  harness.time.nowMs = START_MS + 5000;
  const page = await harness.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.deepEqual(idsOf(page), ids(4));
  const [told] = page.gaps;
  assert.equal(told?.source.key, 'a');
  assert.deepEqual(
    { ...told?.gap, id: undefined },
    {
      id: undefined,
      fromMs: START_MS,
      toMs: START_MS + 1000,
      reason: 'LOG_TRIMMED',
      final: true,
      finalAtMs: START_MS + 5000,
    },
  );
  assert.deepEqual((await harness.read({ keys: ['a'], limit: 1, since: sinceOf(first) })).gaps, page.gaps);
  const entry = page.entries[0]?.token;
  assert.ok(entry);
  assert.deepEqual((await harness.read({ keys: ['a'], since: throughEdge('entry', entry) })).gaps, page.gaps);
  harness.time.nowMs += KEEP_MS - 1;
  const next = await harness.read({ keys: ['a'], since: sinceOf(page) });
  assert.deepEqual([idsOf(next), next.gaps], [ids(5), page.gaps]);
  harness.time.nowMs += 1;
  const last = await harness.read({ keys: ['a'], since: sinceOf(next) });
  assert.deepEqual([last.gaps, stateOf(last.since, 'a')?.missed], [[], undefined]);
});

test('what a cursor missed of a source is told when that is asked for, and grows when more is trimmed', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a', 'b'] });
  const trimAll = async (atMs: number) => {
    await harness.write('a', atMs, [{ n: atMs - START_MS }]);
    await harness.store.timelines.trim({ logId: logIdOf('a'), beforeMs: atMs + 1, keepEntries: 9, keepKnown: 9 });
  };
  await trimAll(START_MS + 1);
  const page = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.hasNewer, page.gaps.length], [[], false, 1]);
  const [told] = page.gaps;
  assert.deepEqual([told?.gap.fromMs, told?.gap.toMs], [undefined, START_MS + 1]);
  const without = await harness.read({ keys: ['b'], configured: ['a', 'b'], since: sinceOf(page) });
  assert.deepEqual(without.gaps, []);
  await trimAll(START_MS + 7);
  const [grown] = (await harness.read({ keys: ['a', 'b'], since: sinceOf(without) })).gaps;
  assert.deepEqual([grown?.gap.id, grown?.gap.fromMs, grown?.gap.toMs], [told?.gap.id, undefined, START_MS + 7]);
});

test('gaps are all those of the asked-for logs', async () => {
  const harness = await createReaderHarness();
  const gap = { id: 'g1', fromMs: 1, toMs: 2, reason: 'PAGE_CAP', final: false } as const;
  await harness.write('a', START_MS, [], { gaps: [gap] });
  await harness.write('b', START_MS, [], { gaps: [{ ...gap, id: 'g2' }] });
  const first = await harness.read({ keys: ['a'] });
  assert.deepEqual(first.gaps, [{ gap, source: first.gaps[0]?.source }]);
  assert.equal(first.gaps[0]?.source.key, 'a');
  const both = await harness.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(
    both.gaps.map((told) => told.gap.id),
    ['g1', 'g2'],
  );
});

test('problems are those of the asked-for sources, with STALE for what did not answer in time', async () => {
  const harness = await createReaderHarness();
  const problem = { code: 'UNAVAILABLE', message: 'GET https://a.example answered 503' } as const;
  const status = { state: 'FAILING', overlapMs: 0, nextPollAtMs: START_MS + 20, problems: [problem] } as const;
  await harness.store.timelines.writeStatus(logIdOf('a'), status);
  await harness.store.timelines.writeStatus(logIdOf('b'), { ...status, nextPollAtMs: START_MS + 10, problems: [] });
  harness.stale.add(logIdOf('b'));
  const page = await harness.read({ keys: ['a', 'b'] });
  assert.deepEqual(page.problems, [
    { ...problem, sourceKey: 'a' },
    {
      code: 'STALE',
      message: 'b could not be read anew for this page: this is what it showed before',
      sourceKey: 'b',
      retryAtMs: START_MS + 10,
    },
  ]);
  assert.equal(page.askAgainAtMs, START_MS + 10);
  assert.equal((await harness.read({ keys: ['a'] })).askAgainAtMs, START_MS + 20);
});

test('a source that is well is worth asking as soon as its least interval is over, and at once while more is waiting', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 3));
  const polledAtMs = START_MS + 7;
  await harness.store.timelines.writeStatus(logIdOf('a'), {
    state: 'OK',
    overlapMs: 0,
    lastPolledAtMs: polledAtMs,
    nextPollAtMs: START_MS + 60_000,
    problems: [],
  });
  const first = await harness.read({ keys: ['a'] });
  assert.equal(first.askAgainAtMs, polledAtMs + (first.entries[0]?.source.polling.minIntervalMs ?? 0));
  await harness.write('a', START_MS + 10, numbers(4, 5));
  const page = await harness.read({ keys: ['a'], since: sinceOf(first), limit: 1 });
  assert.equal(page.hasNewer, true);
  assert.equal(page.askAgainAtMs, undefined);
});

test('sources are woken once for a page, but for one by until', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 2));
  const first = await harness.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(harness.refreshed, [{ logIds: [logIdOf('a'), logIdOf('b')], maxWaitMs: 1500 }]);
  await harness.read({ keys: ['a', 'b'], until: untilOf(first) });
  assert.equal(harness.refreshed.length, 1);
});

test('a page with nothing new reads no record and no body', async () => {
  const harness = await createReaderHarness();
  await harness.write('a', START_MS, numbers(1, 3));
  const first = await harness.read({ keys: ['a', 'b'] });
  const refuse = async (): Promise<never> => assert.fail('this page has nothing to look up');
  const timelines: Store['timelines'] = {
    ...harness.store.timelines,
    entriesByUri: refuse,
    entriesBefore: refuse,
    recordsAfter: refuse,
  };
  const quiet = await createReaderHarness({ timelines, posts: { ...harness.store.posts, getPosts: refuse } });
  const page = await quiet.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.since], [[], first.since]);
});

test('a page without repeats loads its bodies at once', async () => {
  const harness = await createReaderHarness();
  const first = await harness.read({ keys: ['a'] });
  await harness.write('a', START_MS, numbers(1, 500));
  const asked: number[] = [];
  const getPosts: Store['posts']['getPosts'] = (wanted) => {
    asked.push(wanted.length);
    return harness.store.posts.getPosts(wanted);
  };
  const counted = await createReaderHarness({
    timelines: harness.store.timelines,
    posts: { ...harness.store.posts, getPosts },
  });
  await counted.read({ keys: ['a'], limit: 40, since: sinceOf(first) });
  await counted.read({ keys: ['a'], limit: 40 });
  assert.deepEqual(asked, [40, 41]);
});

test('an outage of the store passes through', async () => {
  const harness = await createReaderHarness();
  await harness.store.close();
  await assert.rejects(harness.read({ keys: ['a'] }), { code: 'STORE_UNAVAILABLE' });
});
