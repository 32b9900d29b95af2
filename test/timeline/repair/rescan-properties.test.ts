import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../../src/errors.ts';
import type { IdSchemeName } from '../../../src/post.ts';
import { createPollingHarness, type PollingHarness, postIdOf } from '../polling-harness.ts';

const MINUTE = 60_000;

/** `list`: again, at the top; `boost`: in its place. */
type Change = 'delete' | 'restore' | 'edit' | 'hide' | 'show' | 'list' | 'boost';

/** What befalls the newest posts of a source, a minute or so apart. */
type Event =
  | { readonly kind: 'publish'; readonly count: number; readonly lateMinutes: number }
  | { readonly kind: Change; readonly back: number }
  | { readonly kind: 'fail'; readonly minutes: number }
  | { readonly kind: 'restart' };

interface Life {
  readonly scheme: IdSchemeName;
  /** With opaque ids: deleted posts still answer by id, and what is listed again stays listed at its old place, too. */
  readonly isSnac: boolean;
  readonly pageSize: number;
  readonly events: readonly { readonly waitMinutes: number; readonly event: Event }[];
}

const back = fc.nat(30);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      count: fc.integer({ min: 1, max: 8 }),
      lateMinutes: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(40) }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom<Change>('delete', 'restore', 'edit', 'hide', 'show', 'list', 'boost'),
      back,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), minutes: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);
const life: fc.Arbitrary<Life> = fc.record({
  scheme: fc.constantFrom<IdSchemeName>('mastodon', 'ulid', 'uuidv7', 'opaque'),
  isSnac: fc.boolean(),
  pageSize: fc.integer({ min: 5, max: 40 }),
  events: fc.array(fc.record({ waitMinutes: fc.nat(4), event }), { minLength: 20, maxLength: 60, size: 'max' }),
});

it('rescans end with what the server shows: late posts once, edits, removals, and what came back', async (test) => {
  await fc.assert(
    fc.asyncProperty(life, async (each) => {
      const { house, hidden } = await live(each);
      const posts = [...house.server.timeline.posts.values()];
      const kinds = new Map<string, string[]>();
      for (const { postId, kind } of await house.records()) {
        if (kind === 'entry' || kind === 'remove') kinds.set(postId, [...(kinds.get(postId) ?? []), kind]);
      }
      const stored = await house.store.posts.getPosts(posts.map(({ id }) => postIdOf(id)));
      for (const { id, isDeleted, isHidden, text, boostOf } of posts) {
        const told = kinds.get(postIdOf(id)) ?? [];
        assert.ok(
          told.every((kind, n) => kind === (n % 2 === 0 ? 'entry' : 'remove')),
          `${id} was told as ${told}`,
        );
        // What was hidden before it was seen is none.
        if (told.length === 0 && hidden.has(id)) continue;
        // Nor what is shown inside a boost alone.
        if (told.length === 0 && id !== id.toUpperCase() && house.server.timeline.posts.has(id.toUpperCase())) continue;
        // One that was deleted before it was seen is none.
        const isTold = told.at(-1) === 'entry';
        // Where reads by id tell nothing, what is not listed is not there.
        const isGone = isDeleted || (isHidden && isBlind(each));
        assert.equal(isTold, !isGone, `${id} is ${isGone ? 'gone' : 'there'}: ${told}`);
        const post = stored.get(postIdOf(id))?.post;
        const words = house.server.timeline.posts.get(boostOf ?? id)?.text ?? text;
        if (!isGone) assert.equal(post?.repostOf?.text ?? post?.text, words, `the words of ${id}`);
      }
      assert.deepEqual((await house.log()).gaps, []);
      await house.pollers.stop();
    }),
    { numRuns: 10, endOnFailure: true, reporter: (run) => report(test, run) },
  );
});

/** True where reads by id tell nothing. */
function isBlind({ scheme, isSnac }: Pick<Life, 'scheme' | 'isSnac'>): boolean {
  return isSnac && scheme === 'opaque';
}

/** Gives the ids that were hidden at some time, too. */
async function live({
  scheme,
  isSnac,
  pageSize,
  events,
}: Life): Promise<{ house: PollingHarness; hidden: ReadonlySet<string> }> {
  let failingUntilMs = 0;
  const options = {
    scheme,
    isOpaque: scheme === 'opaque',
    ...(isBlind({ scheme, isSnac }) && { keepsOldLines: true, showsDeleted: true, described: { aliveById: false } }),
    pageSize,
    polling: { sweepIntervalMs: MINUTE, overlapMs: 5000 },
    before() {
      if (clock.elapsedMs < failingUntilMs) throw new UpstreamError('UNAVAILABLE', 'answered 503', { status: 503 });
      return undefined;
    },
  };
  let house = await createPollingHarness(options);
  const { clock, server } = house;
  house.publish({ agoMs: MINUTE });
  house.pollers.start();
  await clock.advance(MINUTE);
  const ids: string[] = [];
  const hidden = new Set<string>();
  for (const { waitMinutes, event } of events) {
    await clock.advance(waitMinutes * MINUTE);
    if (event.kind === 'publish') {
      for (let n = event.count; n > 0; n -= 1) {
        ids.push(house.publish({ agoMs: n * 50, lateMs: event.lateMinutes * MINUTE }));
      }
    } else if (event.kind === 'fail') {
      failingUntilMs = clock.elapsedMs + event.minutes * MINUTE;
    } else if (event.kind === 'restart') {
      await house.pollers.stop();
      house = await createPollingHarness({
        ...options,
        clock,
        server,
        store: house.store,
        holder: crypto.randomUUID(),
      });
      house.pollers.start();
    } else {
      const id = ids.at(-1 - event.back);
      if (id === undefined) continue;
      if (event.kind === 'hide') hidden.add(id).add(id.toUpperCase());
      if (scheme === 'opaque' || !['list', 'boost'].includes(event.kind)) change(house, id, event.kind);
    }
  }
  // The oldest round comes at 288 to 360 sweep intervals.
  await clock.advance(400 * MINUTE);
  return { house, hidden };
}

function change({ server, clock }: PollingHarness, id: string, kind: Change): void {
  const { timeline } = server;
  const { text = '', isDeleted = false, isHidden = false } = timeline.posts.get(id) ?? {};
  const boost = id.toUpperCase();
  const isBoosted = boost !== id && timeline.posts.has(boost);
  // A boost goes with its original, and both stay away: nothing shows an original alone any more.
  const shown = isBoosted ? [id, boost] : [id];
  if (kind === 'edit') timeline.change(id, { text: `${text}, edited at ${clock.elapsedMs}` });
  else if (kind === 'hide') for (const each of shown) timeline.change(each, { isHidden: true });
  else if (kind === 'show' && !isBoosted) timeline.change(id, { isHidden: false });
  else if (kind === 'list') timeline.change(isBoosted ? boost : id, { listedAtMs: server.now() });
  else if (kind === 'delete') for (const each of shown) timeline.change(each, { isDeleted: true });
  else if (kind === 'restore' && !isBoosted) timeline.change(id, { isDeleted: false });
  else if (kind === 'boost' && !isBoosted && !isDeleted && !isHidden && boost !== id) timeline.boost(id);
}

function report(test: { diagnostic(line: string): void }, run: fc.RunDetails<[Life]>): void {
  test.diagnostic(`seed ${run.seed}`);
  if (run.failed) throw new Error(fc.defaultReportMessage(run), { cause: run.errorInstance });
}
