import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isHome } from './model-client.ts';
import { type Outcome, run, type Schedule, schedules } from './schedule.ts';

const RUNS = { numRuns: 80 };
const CALM = { removals: false, leaveOut: false, entryCursors: false, untils: true, maxLagMs: 2500 };

/** Of each uri one copy; before it perhaps one from elsewhere, which its home took the place of. */
function assertExactlyOnce({ client, standing }: Outcome) {
  assert.deepEqual([...client.given.keys()].sort(), [...standing.keys()].sort());
  for (const [uri, ids] of client.given) {
    const postId = ids.at(-1) ?? '';
    assert.ok(standing.get(uri)?.some((copy) => copy.postId === postId));
    const earlier = ids.slice(0, -1);
    assert.ok(earlier.length === 0 || (earlier.length === 1 && isHome({ postId, uri })), `${uri} as ${ids}`);
    assert.ok(!earlier.some((id) => isHome({ postId: id, uri })));
  }
}

/** Of each uri of which a copy stands one is on the screen, in its present form, and nothing else. */
function assertShown({ client, standing, missing, texts }: Outcome) {
  const shown = client.state?.entries ?? [];
  assert.deepEqual(shown.map(({ uri }) => uri).sort(), [...standing.keys()].filter((uri) => !missing.has(uri)).sort());
  for (const { uri, post } of shown) {
    assert.ok(standing.get(uri)?.some(({ postId }) => postId === post.id));
    assert.equal(post.text, texts.get(post.id));
  }
}

function assertWithoutDoubt(outcome: Outcome) {
  assertShown(outcome);
  assert.deepEqual([outcome.doubts.size, outcome.missing.size], [0, 0]);
}

function assertOnceAndShown(outcome: Outcome) {
  assertExactlyOnce(outcome);
  assertWithoutDoubt(outcome);
}

function assertInOrder({ client }: Outcome) {
  const keys = (client.state?.entries ?? []).map((entry) => [entry.sortAt, entry.post.id] as const);
  assert.deepEqual(
    keys,
    keys.toSorted(([a, x], [b, y]) => (a === b ? (x < y ? 1 : -1) : a < b ? 1 : -1)),
  );
}

const property = (traits: Parameters<typeof schedules>[0], check: (outcome: Outcome) => void) =>
  fc.asyncProperty(schedules(traits), async (schedule) => check(await run(schedule)));

test('pages by until and by since, interleaved: nothing twice, nothing lost, present forms', async () => {
  const check = (outcome: Outcome) => {
    assertOnceAndShown(outcome);
    assertInOrder(outcome);
  };
  await fc.assert(property(CALM, check), RUNS);
});

test('sources left out and asked for again: nothing twice, nothing lost, present forms', async () => {
  await fc.assert(property({ ...CALM, leaveOut: true }, assertOnceAndShown), RUNS);
});

test('going on after an entry inside a page: nothing twice, nothing lost', async () => {
  await fc.assert(property({ ...CALM, leaveOut: true, entryCursors: true }, assertOnceAndShown), RUNS);
});

test('going on after an entry inside a page, with removals: each page fits the cursor that asked', async () => {
  const traits = { ...CALM, leaveOut: true, entryCursors: true, removals: true };
  const isBackBehindTheCut: Schedule = {
    history: [{ type: 'add', log: 'c', ns: [0], lagMs: 0 }],
    firstLimit: 1,
    steps: [
      { type: 'remove', log: 'c', n: 0 },
      { type: 'add', log: 'c', ns: [1, 0], lagMs: 0 },
      { type: 'since', limit: 3, leaveOut: [], keep: 1 },
    ],
  };
  await fc.assert(property(traits, assertShown), { ...RUNS, examples: [[isBackBehindTheCut]] });
});

test('with removals, of what arrives in order nothing is twice and nothing lost', async () => {
  const traits = { ...CALM, removals: true, maxLagMs: 0 };
  await fc.assert(property(traits, assertWithoutDoubt), RUNS);
});

test('with removals, each page by since is what changed in what the client holds', async () => {
  const traits = { ...CALM, removals: true, untils: false, leaveOut: true };
  await fc.assert(property(traits, assertShown), { numRuns: 2 * RUNS.numRuns });
});

/** Edited where its record is removed further on, and then listed by another one. */
const EDITED_UNSEEN: Schedule = {
  history: [],
  maxPageBytes: 1,
  firstLimit: 1,
  steps: [
    { type: 'add', log: 'a', ns: [0], lagMs: 0 },
    { type: 'since', limit: 1, leaveOut: [], keep: 0 },
    { type: 'edit', n: 0, lagMs: 0 },
    { type: 'edit', n: 0, lagMs: 0 },
    { type: 'add', log: 'b', ns: [0], lagMs: 0 },
    { type: 'remove', log: 'a', n: 0 },
    { type: 'add', log: 'c', ns: [0], lagMs: 6 },
  ],
};

test('with removals between pages by until, what is gone does not stay, and what stays is not lost', async () => {
  const traits = { ...CALM, removals: true, leaveOut: true };
  await fc.assert(property(traits, assertShown), { numRuns: 2 * RUNS.numRuns, examples: [[EDITED_UNSEEN]] });
});
