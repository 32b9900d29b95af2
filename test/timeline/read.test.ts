import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TimelineToken } from '../../src/ids/tokens.ts';
import { logTag } from '../../src/ids/tokens.ts';
import type { Store } from '../../src/stores/store.ts';
import type { TimelineView } from '../../src/timeline/read.ts';
import { type Change, createWorld, logIdOf, postIdOf, START_MS, throughEdge, uriOf } from './world.ts';

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
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 5));
  const page = await world.read({ keys: ['a'], limit: 2 });
  assert.deepEqual(idsOf(page), ids(5, 4));
  assert.equal(page.entries[0]?.source.key, 'a');
  assert.equal(page.entries[0]?.post.text, 'story 5');
  assert.equal(page.hasNewer, false);
  const bounds = [{ tag: logTag(logIdOf('a')), joined: `${START_MS}-4`, passed: `${START_MS}-4`, history: true }];
  assert.deepEqual(page.since, { sources: bounds });
  assert.deepEqual(page.until, { sources: bounds, at: { sortAtMs: START_MS + 4, postId: postIdOf(4) } });
});

test('posts of one time are ordered by post id, descending, over all logs', async () => {
  const world = await createWorld();
  const sortAtMs = START_MS;
  await world.write('a', START_MS, [
    { n: 1, sortAtMs },
    { n: 3, sortAtMs },
  ]);
  await world.write('b', START_MS, [
    { n: 2, sortAtMs },
    { n: 4, sortAtMs: sortAtMs - 1 },
  ]);
  const page = await world.read({ keys: ['a', 'b'], limit: 2 });
  assert.deepEqual(idsOf(page), ids(3, 2));
  assert.deepEqual(idsOf(await world.read({ keys: ['a', 'b'], until: untilOf(page) })), ids(1, 4));
});

test('pages by until reach all that came before, and the last one has no until', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 4));
  const first = await world.read({ keys: ['a'], limit: 2 });
  const second = await world.read({ keys: ['a'], limit: 2, until: untilOf(first) });
  assert.deepEqual(idsOf(second), ids(2, 1));
  assert.equal(second.until, undefined);
  assert.equal(second.since, undefined);
  assert.equal(second.hasNewer, false);
});

test('an until that only leads to repeats is not given', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  await world.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS - 50 }]);
  const page = await world.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(page), [postIdOf(1)]);
  assert.equal(page.until, undefined);
});

test('what arrived after the first page comes by since alone', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 3));
  const first = await world.read({ keys: ['a'], limit: 1 });
  await world.write('a', START_MS + 10, [{ n: 0 }, { n: 4 }]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a'], until: untilOf(first) })), ids(2, 1));
  assert.deepEqual(idsOf(await world.read({ keys: ['a'], since: sinceOf(first) })), ids(4, 0));
});

test('a page by since takes the oldest records, newest first inside the page, until nothing is newer', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 5));
  const pages: (readonly string[])[] = [];
  let page = first;
  do {
    page = await world.read({ keys: ['a'], limit: 2, since: sinceOf(page) });
    pages.push(idsOf(page));
    assert.equal(page.until, undefined);
  } while (page.hasNewer);
  assert.deepEqual(pages, [ids(2, 1), ids(4, 3), ids(5)]);
});

test('hasNewer is false when the page ends exactly at the head', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 2));
  assert.equal((await world.read({ keys: ['a'], limit: 2, since: sinceOf(first) })).hasNewer, false);
});

test('logs are merged by position, then by tag', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('a', START_MS + 5, numbers(1, 2));
  await world.write('b', START_MS, [{ n: 3, host: 'b.example' }]);
  await world.write('b', START_MS + 5, [{ n: 4, host: 'b.example' }]);
  const page = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  const tied = logTag(logIdOf('a')) < logTag(logIdOf('b')) ? [1, 4] : [4, 1];
  assert.deepEqual(
    page.entries.map((entry) => entry.record.uri),
    [3, ...tied, 2].map(uriOf).reverse(),
  );
});

test('a first page of a log that holds nothing yet joins it at its start, and loses nothing', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  assert.deepEqual(first.entries, []);
  assert.equal(first.until, undefined);
  const state = stateOf(first.since, 'a');
  assert.deepEqual([state?.joined, state?.passed, state?.history], ['0-0', '0-0', true]);
  await world.write('a', START_MS, [{ n: 1 }]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a'], since: sinceOf(first) })), ids(1));
});

test('a source that is new to the cursor joins at its head, without its history', async () => {
  const world = await createWorld();
  await world.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await world.read({ keys: ['a'] });
  const second = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(second.entries, []);
  const state = stateOf(second.since, 'b');
  assert.deepEqual([state?.joined, state?.passed, state?.history], [`${START_MS}-0`, `${START_MS}-0`, false]);
  await world.write('b', START_MS + 1, [{ n: 2, host: 'b.example' }]);
  const third = await world.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(idsOf(third), [postIdOf(2, 'b.example')]);
});

test('a copy that lies before where its source joined makes no repeat', async () => {
  const world = await createWorld();
  await world.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await world.read({ keys: ['a'] });
  const second = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await world.write('a', START_MS + 1, [{ n: 1 }]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a', 'b'], since: sinceOf(second) })), ids(1));
});

test('a source that was left out goes on where it was', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('a', START_MS, [{ n: 1 }]);
  await world.write('b', START_MS, [{ n: 2, host: 'b.example' }]);
  const second = await world.read({ keys: ['a'], configured: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(second), ids(1));
  assert.deepEqual(stateOf(second.since, 'b'), stateOf(first.since, 'b'));
  const third = await world.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(idsOf(third), [postIdOf(2, 'b.example')]);
});

test('a source that may not be read any more is dropped from the token', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a', 'b'] });
  const second = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual(
    second.since?.sources.map((source) => source.tag),
    [logTag(logIdOf('a'))],
  );
});

test('a token holds 50 sources: the asked-for ones, then those read latest', async () => {
  const world = await createWorld();
  const keys = Array.from({ length: 50 }, (_, index) => `s${index}`);
  await Promise.all(keys.slice(1).map((key) => world.write(key, START_MS, [{ n: 1, host: `${key}.example` }])));
  const first = await world.read({ keys });
  const configured = [...keys, 'new'];
  const second = await world.read({ keys: ['new'], configured, since: sinceOf(first) });
  assert.equal(second.since?.sources.length, 50);
  const tags = second.since?.sources.map((source) => source.tag);
  assert.deepEqual(tags, tags?.toSorted());
  assert.equal(stateOf(second.since, 's0'), undefined);
  assert.ok(stateOf(second.since, 'new'));
});

test('two keys of one log are read once', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const page = await world.read({ keys: ['a', 'a'] });
  assert.deepEqual(idsOf(page), ids(1));
  assert.equal(page.since?.sources.length, 1);
});

test('a copy of what was given before is a repeat, and the page is refilled', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('b', START_MS + 1, [
    { n: 1, host: 'b.example' },
    { n: 2, host: 'b.example' },
    { n: 3, host: 'b.example' },
  ]);
  await world.write('a', START_MS + 9, [{ n: 2 }]);
  const page = await world.read({ keys: ['a', 'b'], limit: 2, since: sinceOf(first) });
  assert.deepEqual(idsOf(page), [postIdOf(3, 'b.example'), postIdOf(2, 'b.example')]);
  assert.equal(page.hasNewer, true);
  const next = await world.read({ keys: ['a', 'b'], limit: 2, since: sinceOf(page) });
  assert.deepEqual([next.entries, next.hasNewer], [[], false]);
});

test('a copy in a source that is left out now still makes a repeat', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('b', START_MS + 1, [{ n: 1, host: 'b.example' }]);
  const page = await world.read({ keys: ['b'], configured: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(page.entries, []);
});

test('a copy in a source that may not be read any more makes no repeat', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('b', START_MS + 1, [{ n: 1, host: 'b.example' }]);
  const page = await world.read({ keys: ['b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(page), [postIdOf(1, 'b.example')]);
});

test('of copies in the history the highest is shown, also when it stands on an earlier page', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [
    { n: 1, sortAtMs: START_MS + 5 },
    { n: 9, sortAtMs: START_MS + 1 },
  ]);
  await world.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await world.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(first), ids(1));
  assert.deepEqual(idsOf(await world.read({ keys: ['a', 'b'], until: untilOf(first) })), ids(9));
  const alone = await world.read({ keys: ['b'], configured: ['a', 'b'], until: untilOf(first) });
  assert.deepEqual(alone.entries, []);
});

test('a lower copy is shown when the higher one stands below in a source that is left out', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [
    { n: 9, sortAtMs: START_MS + 9 },
    { n: 1, sortAtMs: START_MS + 5 },
  ]);
  await world.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await world.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(idsOf(first), ids(9));
  const page = await world.read({ keys: ['b'], configured: ['a', 'b'], until: untilOf(first) });
  assert.deepEqual(idsOf(page), [postIdOf(1, 'b.example')]);
});

test('the same post in two timelines of one server is shown once', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 2));
  await world.write('b', START_MS, numbers(1, 2));
  const first = await world.read({ keys: ['a', 'b'], limit: 1 });
  const second = await world.read({ keys: ['a', 'b'], limit: 1, until: untilOf(first) });
  assert.deepEqual([idsOf(first), idsOf(second), second.until], [ids(2), ids(1), undefined]);
});

test('the same post in another timeline of its server is a repeat, and no edit', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('b', START_MS + 1, [{ n: 1 }]);
  const page = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.edited, page.removed, page.hasNewer], [[], [], [], false]);
});

test('an edit of a post that was given before comes once, in its present form', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS + 1, [{ kind: 'edit', n: 1, text: 'second' }]);
  await world.write('a', START_MS + 2, [{ kind: 'edit', n: 1, text: 'third' }]);
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual(page.entries, []);
  assert.deepEqual(
    page.edited.map((post) => post.text),
    ['third'],
  );
});

test('edits follow a copy of the history before one that came by since, wherever that stands', async () => {
  const world = await createWorld();
  await world.write('a', START_MS + 9, [{ n: 1, sortAtMs: START_MS }]);
  const first = await world.read({ keys: ['a', 'b', 'c'] });
  await world.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS + 5 }]);
  await world.write('c', START_MS, [{ n: 1, host: 'c.example', sortAtMs: START_MS - 5 }]);
  const second = await world.read({ keys: ['a', 'b', 'c'], since: sinceOf(first) });
  await world.write('b', START_MS + 10, [{ kind: 'edit', n: 1, host: 'b.example', text: 'unseen' }]);
  await world.write('c', START_MS + 10, [{ kind: 'edit', n: 1, host: 'c.example', text: 'unseen' }]);
  await world.write('a', START_MS + 10, [{ kind: 'edit', n: 1, text: 'seen' }]);
  const told = await world.read({ keys: ['a', 'b', 'c'], since: sinceOf(second) });
  assert.deepEqual(
    told.edited.map((post) => post.text),
    ['seen'],
  );
});

test('an edit of a post whose entry is on the same page is not told apart', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, [{ n: 1 }]);
  await world.write('a', START_MS + 1, [{ kind: 'edit', n: 1, text: 'second' }]);
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([page.entries.map((entry) => entry.post.text), page.edited], [['second'], []]);
});

test('edits follow the copy that was given first, in the history the highest', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1, sortAtMs: START_MS }]);
  await world.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS + 1 }]);
  const first = await world.read({ keys: ['a', 'b'] });
  assert.deepEqual(idsOf(first), [postIdOf(1, 'b.example')]);
  await world.write('a', START_MS + 2, [{ kind: 'edit', n: 1, text: 'unseen' }]);
  const silent = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([silent.edited, silent.hasNewer], [[], false]);
  await world.write('b', START_MS + 3, [{ kind: 'edit', n: 1, host: 'b.example', text: 'seen' }]);
  const told = await world.read({ keys: ['a', 'b'], since: sinceOf(silent) });
  assert.deepEqual(
    told.edited.map((post) => post.text),
    ['seen'],
  );
});

test('edits follow the copy that was given first, by since the one that arrived first', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('a', START_MS + 1, [{ n: 1 }]);
  await world.write('b', START_MS + 2, [{ n: 1, host: 'b.example', sortAtMs: START_MS + 9 }]);
  const second = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(idsOf(second), ids(1));
  await world.write('b', START_MS + 3, [{ kind: 'edit', n: 1, host: 'b.example', text: 'unseen' }]);
  const silent = await world.read({ keys: ['a', 'b'], since: sinceOf(second) });
  assert.deepEqual(silent.edited, []);
  await world.write('a', START_MS + 4, [{ kind: 'edit', n: 1, text: 'seen' }]);
  const told = await world.read({ keys: ['a', 'b'], since: sinceOf(silent) });
  assert.deepEqual(
    told.edited.map((post) => post.text),
    ['seen'],
  );
});

test('an edit of a post that the cursor was never given is passed in silence', async () => {
  const world = await createWorld();
  await world.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await world.read({ keys: ['a'] });
  const joined = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await world.write('b', START_MS + 1, [{ kind: 'edit', n: 1, host: 'b.example', text: 'second' }]);
  await world.write('b', START_MS + 2, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  const page = await world.read({ keys: ['a', 'b'], since: sinceOf(joined) });
  assert.deepEqual([page.entries, page.edited, page.removed, page.hasNewer], [[], [], [], false]);
});

test('pages without a token and by until show present forms and leave out what was removed', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 4));
  const first = await world.read({ keys: ['a'], limit: 1 });
  await world.write('a', START_MS + 1, [
    { kind: 'edit', n: 2, text: 'second' },
    { kind: 'remove', n: 3 },
  ]);
  const older = await world.read({ keys: ['a'], limit: 2, until: untilOf(first) });
  assert.deepEqual(
    older.entries.map((entry) => entry.post.text),
    ['second', 'story 1'],
  );
  assert.deepEqual([older.edited, older.removed], [[], []]);
});

test('a removal of a post that was given before is told', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.removed], [[], ids(1)]);
});

test('a post that was added and removed within one page is only in removed', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 2));
  await world.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.removed], [ids(2), ids(1)]);
});

test('a post is removed only when no source of the cursor shows a copy, under every id that it may have been given', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1, sortAtMs: START_MS + 1 }]);
  await world.write('b', START_MS, [{ n: 1, host: 'b.example', sortAtMs: START_MS }]);
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const silent = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([silent.entries, silent.removed], [[], []]);
  await world.write('b', START_MS + 2, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  const told = await world.read({ keys: ['a', 'b'], since: sinceOf(silent) });
  assert.deepEqual(told.removed, [postIdOf(1), postIdOf(1, 'b.example')]);
});

test('a copy that stands before where its source joined keeps a post from being removed', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  await world.write('b', START_MS, [{ n: 1, host: 'b.example' }]);
  const first = await world.read({ keys: ['a'] });
  const joined = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  await world.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  const silent = await world.read({ keys: ['a', 'b'], since: sinceOf(joined) });
  assert.deepEqual(silent.removed, []);
  await world.write('b', START_MS + 2, [{ kind: 'remove', n: 1, host: 'b.example' }]);
  assert.deepEqual((await world.read({ keys: ['a', 'b'], since: sinceOf(silent) })).removed, ids(1));
});

test('a removed post that comes back is given again', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  await world.write('a', START_MS + 2, [{ n: 1, text: 'back' }]);
  const together = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([idsOf(together), together.removed], [ids(1), []]);
  const removal = await world.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.deepEqual([idsOf(removal), removal.removed, removal.hasNewer], [[], ids(1), true]);
  const back = await world.read({ keys: ['a'], since: sinceOf(removal) });
  assert.deepEqual([back.entries.map((entry) => entry.post.text), back.removed], [['back'], []]);
});

test('a copy that takes the place of a removed one comes with its removal', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('a', START_MS + 1, [{ kind: 'remove', n: 1 }]);
  await world.write('b', START_MS + 2, [{ n: 1, host: 'b.example' }]);
  const page = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.removed], [[postIdOf(1, 'b.example')], ids(1)]);
});

test('limit counts entries, edits and removals together', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 2));
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS + 1, [
    { kind: 'edit', n: 1, text: 'second' },
    { kind: 'remove', n: 2 },
    { n: 3 },
    { n: 4 },
  ]);
  const page = await world.read({ keys: ['a'], limit: 3, since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.edited.length, page.removed, page.hasNewer], [ids(3), 1, ids(2), true]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a'], since: sinceOf(page) })), ids(4));
});

test('a post that is gone upstream, or whose body was lost, is left out and its place refilled', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 4), { posts: [] });
  assert.deepEqual((await world.read({ keys: ['a'] })).entries, []);
  const lost = await world.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.deepEqual([lost.entries, lost.hasNewer], [[], false]);
  await world.write('a', START_MS + 1, numbers(5, 7));
  await world.store.posts.markGone(ids(6), START_MS + 9);
  const page = await world.read({ keys: ['a'], limit: 2 });
  assert.deepEqual([idsOf(page), page.until], [ids(7, 5), undefined]);
});

test('an entry cursor goes on after its entry as since, and back from it as until', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 3));
  const first = await world.read({ keys: ['a', 'b'] });
  await world.write('a', START_MS + 1, numbers(4, 5));
  await world.write('b', START_MS + 2, [
    { n: 6, host: 'b.example' },
    { n: 7, host: 'b.example' },
  ]);
  const page = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  const token = page.entries[1]?.token;
  assert.ok(token);
  const cursor = throughEdge('entry', token);
  assert.deepEqual(idsOf(await world.read({ keys: ['a', 'b'], since: cursor })), [postIdOf(7, 'b.example')]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a', 'b'], until: cursor })), ids(5, 4, 3, 2, 1));
  const middle = first.entries[1]?.token;
  assert.ok(middle);
  assert.deepEqual(idsOf(await world.read({ keys: ['a', 'b'], until: throughEdge('entry', middle) })), ids(1));
  const after = await world.read({ keys: ['a', 'b'], since: throughEdge('entry', middle) });
  assert.deepEqual(idsOf(after), idsOf(page));
});

test('a long run of repeats ends the page early, with hasNewer and a token that goes on', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 1500));
  const first = await world.read({ keys: ['a', 'b'], limit: 1 });
  const copies = numbers(1, 1501).map((change) => ({ ...change, host: 'b.example' }));
  await world.write('b', START_MS + 1, copies);
  const page = await world.read({ keys: ['a', 'b'], limit: 1, since: sinceOf(first) });
  assert.deepEqual([page.entries, page.hasNewer], [[], true]);
  const next = await world.read({ keys: ['a', 'b'], limit: 1, since: sinceOf(page) });
  assert.deepEqual([idsOf(next), next.hasNewer], [[postIdOf(1501, 'b.example')], false]);
});

test('a long run of lost bodies ends a page by until early, with an until that goes on', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 0 }]);
  await world.write('a', START_MS, numbers(1, 1500), { posts: [] });
  const first = await world.read({ keys: ['a'], limit: 1 });
  assert.deepEqual(first.entries, []);
  const second = await world.read({ keys: ['a'], limit: 1, until: untilOf(first) });
  assert.deepEqual([idsOf(second), second.until], [ids(0), undefined]);
});

const heavy = (from: number, to: number): Change[] =>
  numbers(from, to).map((change) => ({ ...change, text: 'x'.repeat(50_000) }));

test('a page by since ends when its posts reach 4 MB, edits counted, and the pages together are the same', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, heavy(1, 50));
  const first = await world.read({ keys: ['a'], limit: 1 });
  const edits = heavy(1, 50).map((change) => ({ ...change, kind: 'edit' as const, text: `${change.text}!` }));
  await world.write('a', START_MS + 1, [...edits, ...heavy(51, 100)]);
  const counts: number[] = [];
  const told: string[] = [];
  for (let page = first; counts.length === 0 || page.hasNewer; ) {
    page = await world.read({ keys: ['a'], limit: 200, since: sinceOf(page) });
    counts.push(page.entries.length + page.edited.length);
    told.push(...page.edited.map(({ id }) => id), ...idsOf(page).reverse());
  }
  assert.deepEqual(told, ids(...numbers(1, 100).map(({ n }) => n)));
  // A post is its text twice, and some hundred bytes.
  assert.deepEqual(counts, [40, 40, 20]);
});

test('pages by display order end when their posts reach 4 MB, and leave nothing out', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, heavy(1, 100));
  let page = await world.read({ keys: ['a'], limit: 200 });
  const counts = [page.entries.length];
  const shown = idsOf(page).slice();
  while (page.until) {
    page = await world.read({ keys: ['a'], limit: 200, until: untilOf(page) });
    counts.push(page.entries.length);
    shown.push(...idsOf(page));
  }
  assert.deepEqual(shown, ids(...numbers(1, 100).map(({ n }) => n)).reverse());
  assert.deepEqual(counts, [40, 40, 20]);
});

test('a post that is larger than a page has one of its own', async () => {
  const world = await createWorld({}, 1);
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 3));
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([idsOf(page), page.hasNewer], [ids(1), true]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a'] })), ids(3));
});

test('a run of repeats with large bodies ends the page when 16 MB of them are read', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, heavy(1, 1000));
  const first = await world.read({ keys: ['a', 'b'], limit: 1 });
  const repeats = numbers(1, 1000).map((change) => ({ ...change, host: 'b.example' }));
  await world.write('b', START_MS + 1, repeats);
  let read = 0;
  const { timelines, posts } = world.store;
  const getPosts: Store['posts']['getPosts'] = (wanted) => {
    read += wanted.length;
    return posts.getPosts(wanted);
  };
  const counting = await createWorld({ timelines, posts: { ...posts, getPosts } });
  const page = await counting.read({ keys: ['a', 'b'], limit: 100, since: sinceOf(first) });
  assert.deepEqual([page.entries, page.hasNewer], [[], true]);
  assert.equal(read, 360, 'of 60 and then 40 stories at a time, a large one and a small one each');
});

test("an entry's token is made when it is asked for, once", async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 3));
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
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
  const world = await createWorld();
  await world.write('a', START_MS, [{ n: 1 }]);
  const ahead = `${START_MS + 1000}-7`;
  const token = { sources: [{ tag: logTag(logIdOf('a')), joined: `${START_MS}-0`, passed: ahead, history: true }] };
  const page = await world.read({ keys: ['a'], since: token });
  assert.deepEqual([page.entries, page.hasNewer, page.since], [[], false, token]);
  assert.equal(await world.head('a'), ahead);
  await world.write('a', START_MS + 1, [{ n: 2 }]);
  assert.deepEqual(idsOf(await world.read({ keys: ['a'], since: sinceOf(page) })), ids(2));
});

test('a since below the tail starts at the tail, with one final gap of a stable id', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 2));
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS + 1000, numbers(3, 5));
  const trim = { logId: logIdOf('a'), beforeMs: 0, keepEntries: 2, keepKnown: 1000 };
  await world.store.timelines.trim(trim);
  const page = await world.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.deepEqual(idsOf(page), ids(4));
  const [told] = page.gaps;
  assert.equal(told?.source.key, 'a');
  assert.deepEqual(
    { ...told?.gap, id: undefined },
    { id: undefined, fromMs: START_MS, toMs: START_MS + 1000, reason: 'LOG_TRIMMED', final: true },
  );
  const again = await world.read({ keys: ['a'], limit: 1, since: sinceOf(first) });
  assert.equal(again.gaps[0]?.gap.id, told?.gap.id);
  const next = await world.read({ keys: ['a'], since: sinceOf(page) });
  assert.deepEqual([idsOf(next), next.gaps], [ids(5), []]);
});

test('a since below the tail of a log that was trimmed whole tells its gap once', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 2));
  await world.store.timelines.trim({ logId: logIdOf('a'), beforeMs: START_MS + 1, keepEntries: 9, keepKnown: 9 });
  const page = await world.read({ keys: ['a'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.hasNewer, page.gaps.length], [[], false, 1]);
  assert.equal(page.gaps[0]?.gap.fromMs, undefined);
  assert.deepEqual((await world.read({ keys: ['a'], since: sinceOf(page) })).gaps, []);
});

test('gaps are all those of the asked-for logs', async () => {
  const world = await createWorld();
  const gap = { id: 'g1', fromMs: 1, toMs: 2, reason: 'PAGE_CAP', final: false } as const;
  await world.write('a', START_MS, [], { gaps: [gap] });
  await world.write('b', START_MS, [], { gaps: [{ ...gap, id: 'g2' }] });
  const first = await world.read({ keys: ['a'] });
  assert.deepEqual(first.gaps, [{ gap, source: first.gaps[0]?.source }]);
  assert.equal(first.gaps[0]?.source.key, 'a');
  const both = await world.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual(
    both.gaps.map((told) => told.gap.id),
    ['g1', 'g2'],
  );
});

test('problems are those of the asked-for sources, with STALE for what did not answer in time', async () => {
  const world = await createWorld();
  const problem = { code: 'UNAVAILABLE', message: 'GET https://a.example answered 503' } as const;
  const status = { state: 'FAILING', overlapMs: 0, nextPollAtMs: START_MS + 20, problems: [problem] } as const;
  await world.store.timelines.writeStatus(logIdOf('a'), status);
  await world.store.timelines.writeStatus(logIdOf('b'), { ...status, nextPollAtMs: START_MS + 10, problems: [] });
  world.stale.add(logIdOf('b'));
  const page = await world.read({ keys: ['a', 'b'] });
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
  assert.equal((await world.read({ keys: ['a'] })).askAgainAtMs, START_MS + 20);
});

test('a source that is well is worth asking as soon as its least interval is over, and at once while more is waiting', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 3));
  const polledAtMs = START_MS + 7;
  await world.store.timelines.writeStatus(logIdOf('a'), {
    state: 'OK',
    overlapMs: 0,
    lastPolledAtMs: polledAtMs,
    nextPollAtMs: START_MS + 60_000,
    problems: [],
  });
  const first = await world.read({ keys: ['a'] });
  assert.equal(first.askAgainAtMs, polledAtMs + (first.entries[0]?.source.polling.minIntervalMs ?? 0));
  await world.write('a', START_MS + 10, numbers(4, 5));
  const page = await world.read({ keys: ['a'], since: sinceOf(first), limit: 1 });
  assert.equal(page.hasNewer, true);
  assert.equal(page.askAgainAtMs, undefined);
});

test('sources are woken once for a page, but for one by until', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 2));
  const first = await world.read({ keys: ['a', 'b'], limit: 1 });
  assert.deepEqual(world.refreshed, [{ logIds: [logIdOf('a'), logIdOf('b')], maxWaitMs: 1500 }]);
  await world.read({ keys: ['a', 'b'], until: untilOf(first) });
  assert.equal(world.refreshed.length, 1);
});

test('a page with nothing new reads no record and no body', async () => {
  const world = await createWorld();
  await world.write('a', START_MS, numbers(1, 3));
  const first = await world.read({ keys: ['a', 'b'] });
  const refuse = async (): Promise<never> => assert.fail('this page has nothing to look up');
  const timelines: Store['timelines'] = {
    ...world.store.timelines,
    entriesByUri: refuse,
    entriesBefore: refuse,
    recordsAfter: refuse,
  };
  const quiet = await createWorld({ timelines, posts: { ...world.store.posts, getPosts: refuse } });
  const page = await quiet.read({ keys: ['a', 'b'], since: sinceOf(first) });
  assert.deepEqual([page.entries, page.since], [[], first.since]);
});

test('a page without repeats loads its bodies at once', async () => {
  const world = await createWorld();
  const first = await world.read({ keys: ['a'] });
  await world.write('a', START_MS, numbers(1, 500));
  const asked: number[] = [];
  const getPosts: Store['posts']['getPosts'] = (wanted) => {
    asked.push(wanted.length);
    return world.store.posts.getPosts(wanted);
  };
  const counted = await createWorld({ timelines: world.store.timelines, posts: { ...world.store.posts, getPosts } });
  await counted.read({ keys: ['a'], limit: 40, since: sinceOf(first) });
  await counted.read({ keys: ['a'], limit: 40 });
  assert.deepEqual(asked, [40, 41]);
});

test('an outage of the store passes through', async () => {
  const world = await createWorld();
  await world.store.close();
  await assert.rejects(world.read({ keys: ['a'] }), { code: 'STORE_UNAVAILABLE' });
});
