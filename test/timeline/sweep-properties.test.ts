import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../src/errors.ts';
import type { IdSchemeName } from '../../src/post.ts';
import { createHouse, type House, LOG, postIdOf } from './house.ts';

const MINUTE = 60_000;

/** What befalls the newest posts of a source, a minute or so apart. */
type Event =
  | { readonly kind: 'publish'; readonly count: number; readonly lateMinutes: number }
  | { readonly kind: 'delete' | 'restore' | 'edit' | 'hide' | 'show'; readonly back: number }
  | { readonly kind: 'fail'; readonly minutes: number }
  | { readonly kind: 'restart' };

interface Life {
  readonly scheme: IdSchemeName;
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
    arbitrary: fc.record({ kind: fc.constantFrom('delete', 'restore', 'edit', 'hide', 'show'), back }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), minutes: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);
const life: fc.Arbitrary<Life> = fc.record({
  scheme: fc.constantFrom<IdSchemeName>('mastodon', 'ulid', 'uuidv7', 'opaque'),
  pageSize: fc.integer({ min: 5, max: 40 }),
  events: fc.array(fc.record({ waitMinutes: fc.nat(4), event }), { minLength: 20, maxLength: 60, size: 'max' }),
});

it('sweeps end with what the server shows: late posts once, edits, removals, and what came back', async (test) => {
  await fc.assert(
    fc.asyncProperty(life, async (each) => {
      const { house, hidden } = await live(each);
      const posts = [...house.server.timeline.posts.values()];
      const alive = new Set((await house.store.timelines.readSweep(LOG))?.alive);
      const kinds = new Map<string, string[]>();
      for (const { postId, kind } of await house.records()) {
        if (kind === 'entry' || kind === 'remove') kinds.set(postId, [...(kinds.get(postId) ?? []), kind]);
      }
      const stored = await house.store.posts.getPosts(posts.map(({ id }) => postIdOf(id)));
      for (const { id, isDeleted, text } of posts) {
        const told = kinds.get(postIdOf(id)) ?? [];
        assert.ok(
          told.every((kind, n) => kind === (n % 2 === 0 ? 'entry' : 'remove')),
          `${id} was told as ${told}`,
        );
        // What no page shows and is alive is remembered as such: nothing more is learnt of it.
        if (hidden.has(id)) continue;
        // Late posts of opaque ids stand elsewhere than they came: one that was taken for missing is not missed once it is deleted.
        if (isDeleted && each.scheme === 'opaque' && alive.has(postIdOf(id))) continue;
        // One that was deleted before it was seen is none.
        const isTold = told.at(-1) === 'entry';
        if (isDeleted) assert.equal(isTold, false, `${id} is deleted: ${told}`);
        else assert.equal(isTold, true, `${id} is there: ${told}`);
        if (!isDeleted) assert.equal(stored.get(postIdOf(id))?.post.text, text, `the words of ${id}`);
      }
      assert.deepEqual((await house.log()).gaps, []);
      await house.pollers.stop();
    }),
    { numRuns: 10, endOnFailure: true, reporter: (run) => report(test, run) },
  );
});

/** Gives the ids that were hidden at some time, too. */
async function live({ scheme, pageSize, events }: Life): Promise<{ house: House; hidden: ReadonlySet<string> }> {
  let failingUntilMs = 0;
  const options = {
    scheme,
    isOpaque: scheme === 'opaque',
    pageSize,
    polling: { sweepIntervalMs: MINUTE, overlapMs: 5000 },
    before() {
      if (clock.elapsedMs < failingUntilMs) throw new UpstreamError('UNAVAILABLE', 'answered 503', { status: 503 });
      return undefined;
    },
  };
  let house = await createHouse(options);
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
      house = await createHouse({ ...options, clock, server, store: house.store, holder: crypto.randomUUID() });
      house.pollers.start();
    } else {
      const id = ids.at(-1 - event.back);
      if (id === undefined) continue;
      if (event.kind === 'hide') hidden.add(id);
      change(house, id, event.kind);
    }
  }
  // The oldest round comes at 288 to 360 sweep intervals.
  await clock.advance(400 * MINUTE);
  return { house, hidden };
}

function change({ server, clock }: House, id: string, kind: 'delete' | 'restore' | 'edit' | 'hide' | 'show'): void {
  const { text = '' } = server.timeline.posts.get(id) ?? {};
  if (kind === 'edit') server.timeline.change(id, { text: `${text}, edited at ${clock.elapsedMs}` });
  else if (kind === 'hide' || kind === 'show') server.timeline.change(id, { isHidden: kind === 'hide' });
  else server.timeline.change(id, { isDeleted: kind === 'delete' });
}

function report(test: { diagnostic(line: string): void }, run: fc.RunDetails<[Life]>): void {
  test.diagnostic(`seed ${run.seed}`);
  if (run.failed) throw new Error(fc.defaultReportMessage(run), { cause: run.errorInstance });
}
