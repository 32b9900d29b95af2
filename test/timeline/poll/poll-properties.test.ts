import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../../src/errors.ts';
import type { IdSchemeName } from '../../../src/post.ts';
import { createPollingHarness, type PollingHarnessOptions } from '../polling-harness.ts';

/** One simulated life of a source; all of it follows from the numbers, so a seed tells everything. */
interface Life {
  readonly scheme: IdSchemeName;
  readonly manners: Pick<PollingHarnessOptions, 'ignoresSinceId' | 'comparesDoubles' | 'shuffles' | 'hasNoDate'>;
  readonly pageSize: number;
  readonly overlapMs: number;
  readonly latencyMs: number;
  /** The wait before each post or burst, how late it shows in thousandths of the overlap, and whether it is hidden, deleted, edited. */
  readonly posts: readonly { waitMs: number; burst: number; late: number; fate: 'plain' | 'hidden' | 'deleted' }[];
  /** How requests fail, over and over; the first of all never does. */
  readonly failures: readonly ('none' | 'RATE_LIMITED' | 'UNAVAILABLE' | 'partial')[];
  /** At these posts the gateway is started anew, the local clock steps. */
  readonly restartEvery: number;
  readonly stepMs: number;
}

const life: fc.Arbitrary<Life> = fc.record({
  scheme: fc.constantFrom<IdSchemeName>('mastodon', 'mastodon', 'twitter', 'ulid', 'uuidv7'),
  manners: fc.record({
    ignoresSinceId: fc.boolean(),
    comparesDoubles: fc.boolean(),
    shuffles: fc.boolean(),
    hasNoDate: fc.boolean(),
  }),
  pageSize: fc.integer({ min: 30, max: 40 }),
  overlapMs: fc.constantFrom(10_000, 40_000),
  latencyMs: fc.constantFrom(0, 400),
  posts: fc.array(
    fc.record({
      waitMs: fc.oneof(
        { weight: 8, arbitrary: fc.nat(12_000) },
        { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 600_000 }) },
      ),
      burst: fc.oneof(
        { weight: 40, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.integer({ min: 20, max: 95 }) },
      ),
      // Not fc.double: it loves tiny numbers.
      late: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(999) }),
      fate: fc.oneof(
        { weight: 8, arbitrary: fc.constant('plain' as const) },
        { weight: 1, arbitrary: fc.constant('hidden' as const) },
        { weight: 1, arbitrary: fc.constant('deleted' as const) },
      ),
    }),
    { minLength: 100, maxLength: 250, size: 'max' },
  ),
  failures: fc.array(
    fc.oneof(
      { weight: 12, arbitrary: fc.constant('none' as const) },
      { weight: 2, arbitrary: fc.constantFrom('RATE_LIMITED' as const, 'UNAVAILABLE' as const, 'partial' as const) },
    ),
    { minLength: 30, maxLength: 60 },
  ),
  restartEvery: fc.integer({ min: 20, max: 200 }),
  stepMs: fc.constantFrom(0, 0, 3_600_000, -3_600_000),
});

async function live({ scheme, manners, pageSize, overlapMs, latencyMs, posts, failures, restartEvery, stepMs }: Life) {
  let isCalm = false;
  const options: PollingHarnessOptions = {
    scheme,
    ...manners,
    comparesDoubles: manners.comparesDoubles === true && scheme === 'mastodon',
    pageSize,
    latencyMs,
    polling: { overlapMs, minIntervalMs: 5000, idleIntervalMs: 20_000, sweepIntervalMs: 300_000 },
    before(_, count) {
      const failure = count === 1 || isCalm ? 'none' : (failures[count % failures.length] ?? 'none');
      if (failure === 'none') return undefined;
      if (failure === 'partial') return failure;
      throw new UpstreamError(
        failure,
        `simulated ${failure}`,
        failure === 'RATE_LIMITED' ? { retryAtMs: harness.clock.now() + 30_000 } : {},
      );
    },
  };
  const harness = await createPollingHarness(options);
  const { clock, server } = harness;
  for (let n = 0; n < 3; n += 1) harness.publish({ agoMs: 1000 + n });
  let { pollers } = harness;
  pollers.start();
  await clock.advance(1000);

  const expected = new Set(server.timeline.posts.keys());
  for (const [n, { waitMs, burst, late, fate }] of posts.entries()) {
    await clock.advance(waitMs);
    for (let more = 0; more < burst; more += 1) {
      const lateMs = Math.floor((((late * (more + 1)) % 1000) / 1000) * overlapMs);
      const id = harness.publish({ agoMs: -more, lateMs, isHidden: fate === 'hidden' });
      if (fate !== 'hidden') expected.add(id);
    }
    const doomed = [...expected][expected.size - 3];
    if (fate === 'deleted' && doomed !== undefined) {
      server.timeline.change(doomed, { isDeleted: true });
      if (!(await harness.entries()).includes(doomed)) expected.delete(doomed);
    }
    if (n % restartEvery === restartEvery - 1) {
      const next = await createPollingHarness({
        ...options,
        clock,
        server,
        store: harness.store,
        holder: `gateway-${n}`,
      });
      await pollers.stop();
      if (n % 2 === 0) clock.step(stepMs);
      pollers = next.pollers;
      pollers.start();
    }
  }
  isCalm = true;
  // By then rescans were here, too, for what does not fit into the overlap of a busy source.
  await clock.advance(5 * 3_600_000);
  const entries = await harness.entries();
  const state = await harness.log();
  await pollers.stop();
  return { expected, entries, state };
}

describe('polling, whatever the server does', () => {
  it('gives every post that was late by less than the overlap exactly once', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(life, async (each) => {
        const { expected, entries, state } = await live(each);
        assert.equal(new Set(entries).size, entries.length, 'no post twice');
        assert.deepEqual(
          [...expected].filter((id) => !entries.includes(id)),
          [],
          'no post lost',
        );
        assert.deepEqual(state.gaps, [], 'no gap stays open');
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
