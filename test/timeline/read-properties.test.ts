import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Copy, copiesOf, countingOf, isHome, type Outcome, run, schedules } from './schedule.ts';

const RUNS = { numRuns: 80 };
const CALM = { removals: false, leaveOut: false, entryCursors: false, untils: true, maxLagMs: 2500 };

/** Each uri once; where it came from elsewhere before its home brought it, once more from there. */
function assertExactlyOnce(outcome: Outcome) {
  const copies = copiesOf(outcome);
  const { given } = outcome.client;
  assert.deepEqual([...given.keys()].sort(), [...copies.keys()].sort());
  for (const [uri, ids] of given) {
    const counting = idsOf(countingOf(copies.get(uri) ?? []));
    assert.equal(ids.filter((id) => counting.has(id)).length, 1, uri);
    assert.ok(counting.has(ids.at(-1) ?? ''), `${uri} ends with ${ids.at(-1)}`);
    const elsewhere = ids.filter((id) => !counting.has(id));
    assert.ok(elsewhere.length <= 1 && !elsewhere.some((postId) => isHome({ postId, uri })), uri);
  }
}

const idsOf = (copies: readonly Copy[]) => new Set(copies.map(({ postId }) => postId));

/** The merged state, uri by uri. */
function shownBy(outcome: Outcome) {
  return Map.groupBy(outcome.client.state?.entries ?? [], (entry) => entry.uri);
}

function assertPresent(outcome: Outcome) {
  const copies = copiesOf(outcome);
  const shown = shownBy(outcome);
  assert.deepEqual([...shown.keys()].sort(), [...copies.keys()].sort());
  for (const [uri, entries] of shown) {
    assert.equal(entries.length, 1);
    const id = entries[0]?.post.id ?? '';
    // A commit that is late may put a copy before the one that was given: then the gateway cannot know which it was.
    const counting = countingOf(copies.get(uri) ?? []);
    assert.ok(idsOf(counting).has(id), `${uri} is shown as ${id}`);
    if (counting[0]?.postId === id) assert.equal(entries[0]?.post.text, outcome.texts.get(id));
  }
}

function assertInOrder(outcome: Outcome) {
  const keys = (outcome.client.state?.entries ?? []).map((entry) => [entry.sortAt, entry.post.id] as const);
  assert.deepEqual(
    keys,
    keys.toSorted(([a, x], [b, y]) => (a === b ? (x < y ? 1 : -1) : a < b ? 1 : -1)),
  );
}

test('pages by until and by since, interleaved: nothing twice, nothing lost, present forms', async () => {
  const property = fc.asyncProperty(schedules(CALM), async (schedule) => {
    const outcome = await run(schedule);
    assertExactlyOnce(outcome);
    assertPresent(outcome);
    assertInOrder(outcome);
  });
  await fc.assert(property, RUNS);
});

test('sources left out and asked for again: nothing twice, nothing lost, present forms', async () => {
  const property = fc.asyncProperty(schedules({ ...CALM, leaveOut: true }), async (schedule) => {
    const outcome = await run(schedule);
    assertExactlyOnce(outcome);
    assertPresent(outcome);
  });
  await fc.assert(property, RUNS);
});

test('going on after an entry inside a page: nothing twice, nothing lost', async () => {
  const traits = { ...CALM, leaveOut: true, entryCursors: true };
  const property = fc.asyncProperty(schedules(traits), async (schedule) => assertExactlyOnce(await run(schedule)));
  await fc.assert(property, RUNS);
});

test('edited only names posts that were given before, or that the history holds', async () => {
  const property = fc.asyncProperty(schedules({ ...CALM, maxLagMs: 0 }), async (schedule) => {
    for (const { id, known } of (await run(schedule)).edited) assert.ok(known, id);
  });
  await fc.assert(property, RUNS);
});

test('with removals, a client that keeps up by since shows each post once while a source shows it, and then no more', async () => {
  const traits = { ...CALM, removals: true, untils: false, leaveOut: true };
  const property = fc.asyncProperty(schedules(traits), async (schedule) => {
    const outcome = await run(schedule);
    const shown = shownBy(outcome);
    for (const [uri, all] of copiesOf(outcome)) {
      const copies = countingOf(all);
      const count = shown.get(uri)?.length ?? 0;
      if (copies.some((copy) => !copy.removed)) assert.equal(count, 1, uri);
      else if (!standsElsewhere(outcome, uri, copies.length < all.length)) assert.equal(count, 0, uri);
    }
  });
  await fc.assert(property, { numRuns: 2 * RUNS.numRuns });
});

test('with removals between pages by until, what is gone does not stay, and what stays is not lost', async () => {
  const property = fc.asyncProperty(schedules({ ...CALM, removals: true }), async (schedule) => {
    const outcome = await run(schedule);
    const shown = shownBy(outcome);
    for (const [uri, all] of copiesOf(outcome)) {
      const copies = countingOf(all);
      const isShown = shown.has(uri);
      const standing = copies.filter((copy) => !copy.removed);
      // A copy that came by since was a repeat of one in the history, which was removed before it was reached.
      const isHidden = copies.some((copy) => copy.isHistory) && !standing.some((copy) => copy.isHistory);
      if (standing.length > 0) assert.ok(isShown || isHidden, `${uri} is lost`);
      else if (!standsElsewhere(outcome, uri, copies.length < all.length)) assert.ok(!isShown, `${uri} stays`);
    }
  });
  await fc.assert(property, RUNS);
});

/** True when a source that joined later shows a copy from before it joined; `atHome`: one that counts. */
function standsElsewhere({ client, logs }: Outcome, uri: string, atHome: boolean): boolean {
  return [...client.joined.keys()].some((key) =>
    logs
      .get(key)
      ?.some(
        (record) => record.kind === 'entry' && record.uri === uri && !record.removed && (!atHome || isHome(record)),
      ),
  );
}
