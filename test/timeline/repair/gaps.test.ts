import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import type { PageRequest } from '../../../src/upstreams/upstream.ts';
import { createPollingHarness, type PollingHarness, type PollingHarnessOptions } from '../polling-harness.ts';

/** A house after its first poll, whose upstream refuses what `refuse` names from then on. */
async function settled(
  options: PollingHarnessOptions = {},
): Promise<PollingHarness & { refuse: (request: PageRequest) => boolean }> {
  const controls = { refuse: (_: PageRequest) => false };
  const house = await createPollingHarness({
    before(request) {
      if (controls.refuse(request)) throw limited(house);
      return undefined;
    },
    ...options,
  });
  for (let n = 3; n > 0; n -= 1) house.publish({ agoMs: 300_000 + n * 1000 });
  house.pollers.start();
  await house.clock.advance(10);
  return Object.assign(controls, house);
}

function limited({ clock }: PollingHarness): UpstreamError {
  return new UpstreamError('RATE_LIMITED', 'answered 429', { status: 429, retryAtMs: clock.now() + 10_000 });
}

function burst(house: PollingHarness, count: number): string[] {
  return Array.from({ length: count }, (_, n) => house.publish({ agoMs: (count - n) * 10 }));
}

describe('a poll that does not reach its anchor', () => {
  it('commits what it read with an open gap, which is filled later: every post once, and none a leak', async () => {
    const house = await settled();
    const ids = burst(house, 200);
    house.refuse = ({ next }) => next !== undefined && house.server.requests.length === 3;
    await house.clock.advance(60_000 - 10);
    const [gap] = (await house.log()).gaps;
    assert.deepEqual([gap?.reason, gap?.final], ['RATE_LIMITED', false]);
    assert.ok(gap?.fromMs !== undefined && gap.toMs !== undefined && gap.fromMs < gap.toMs);
    assert.deepEqual((await house.entries()).slice(-40), ids.slice(-40));
    assert.equal((await house.status()).state, 'WAITING');

    await house.clock.advance(180_000);
    const { gaps, counts } = await house.log();
    assert.deepEqual(gaps, []);
    assert.deepEqual(new Set((await house.entries()).slice(3)), new Set(ids));
    assert.equal((await house.entries()).length, 203);
    assert.deepEqual([counts.backfilled, counts.leaksPrevented, counts.gaps], [160, 0, 1]);
    assert.equal((await house.status()).state, 'OK');
  });

  it('ends where the posts that it holds are too large together, and the rest is filled', async () => {
    const house = await settled();
    const ids = Array.from({ length: 300 }, () => house.publish({ text: 'x'.repeat(60_000) }));
    let read = 0;
    for (let second = 0; second < 60 && read <= 3; second++) {
      await house.clock.advance(1_000);
      read = (await house.entries()).length;
    }
    assert.ok(read > 200 && read < 300, `${read} of 300 posts of 60 kB were read at once`);
    assert.equal((await house.log()).gaps[0]?.reason, 'PAGE_CAP');
    await house.clock.advance(180_000);
    assert.deepEqual((await house.log()).gaps, []);
    assert.deepEqual(new Set((await house.entries()).slice(3)), new Set(ids));
  });

  it('has its gap filled a page a commit, each put on record as late', async () => {
    const house = await settled({ maxPagesPerPoll: 2 });
    burst(house, 200);
    const { version } = await house.log();
    await house.clock.advance(60_000);
    assert.equal((await house.log()).gaps[0]?.reason, 'PAGE_CAP');
    await house.clock.advance(60_000);
    const after = await house.log();
    assert.deepEqual(after.gaps, []);
    assert.equal(after.version - version, 5, 'the poll, three pages, and the one that holds the anchor');
    const late = (await house.records()).filter((record) => record.late);
    assert.equal(late.length, 120);
  });

  it('has its gap filled on by another gateway after a crash', async () => {
    const house = await settled({ maxPagesPerPoll: 1 });
    const ids = burst(house, 200);
    await house.clock.advance(60_000 + 6000);
    assert.equal((await house.log()).gaps.length, 1);
    assert.ok((await house.entries()).length < 203);
    // The first gateway is gone without a word: its lease runs out.
    house.refuse = () => true;
    await house.pollers.stop();
    house.refuse = () => false;
    const { clock, server, store } = house;
    const next = await createPollingHarness({ clock, server, store, holder: 'other', maxPagesPerPoll: 1 });
    next.pollers.start();
    await clock.advance(120_000);
    assert.deepEqual((await house.log()).gaps, []);
    assert.deepEqual(new Set((await house.entries()).slice(3)), new Set(ids));
    assert.equal((await house.entries()).length, 203);
  });

  it('lets the next polls stop where its gap begins', async () => {
    const house = await settled({ polling: { pollWhen: 'asked' } });
    await house.refresh();
    await house.clock.advance(10_000);
    const requests = () => house.server.requests.length;
    burst(house, 500);
    house.refuse = ({ next }) => next !== undefined && requests() > 3;
    await house.refresh();
    assert.equal((await house.log()).gaps.length, 1);
    house.refuse = () => false;
    const before = requests();
    await house.clock.advance(10_000);
    await house.refresh();
    assert.equal(requests() - before, 4, 'one page of the gap, and the three above it');
    assert.equal((await house.log()).gaps.length, 1);
  });

  it('has its gap filled within some polls, also where those spend more than a throttle allows', async () => {
    const throttles = [{ requests: 1, windowMs: 60_000, counts: 'pages' }] as const;
    const polling = { minIntervalMs: 5000, idleIntervalMs: 5000, ownInterval: true };
    const house = await settled({ maxPagesPerPoll: 1, polling, described: { throttles } });
    await house.clock.advance(60_000);
    const ids = burst(house, 200);
    await house.clock.advance(40_000);
    assert.deepEqual((await house.log()).gaps, []);
    assert.deepEqual((await house.entries()).slice(3).toSorted(), ids.toSorted());
    await house.pollers.stop();
  });

  it('drops all when its first page fails', async () => {
    const house = await settled();
    burst(house, 5);
    house.refuse = () => true;
    const before = await house.log();
    await house.clock.advance(60_000);
    assert.deepEqual(await house.log(), before);
    assert.equal((await house.status()).problems[0]?.code, 'RATE_LIMITED');
  });
});

describe('a gap', () => {
  it('is final after its next page was refused three times', async () => {
    let isOld = false;
    const house = await createPollingHarness({
      maxPagesPerPoll: 1,
      described: { before: false },
      before({ next }) {
        if (isOld && next !== undefined) throw new UpstreamError('MALFORMED', 'answered 400', { status: 400 });
        return undefined;
      },
    });
    house.publish({ agoMs: 300_000 });
    house.pollers.start();
    await house.clock.advance(10);
    isOld = true;
    burst(house, 100);
    await house.clock.advance(120_000);
    const gaps = (await house.log()).gaps;
    assert.deepEqual(
      gaps.map(({ reason, final, fill }) => [reason, final, fill]),
      [['PAGE_CAP', true, undefined]],
    );
  });

  it('is filled on below what was read when its next page is refused, where reading may begin anywhere', async () => {
    let isOld = false;
    const house = await createPollingHarness({
      maxPagesPerPoll: 1,
      before({ next }) {
        if (isOld && next !== undefined) throw new UpstreamError('MALFORMED', 'answered 400', { status: 400 });
        return undefined;
      },
    });
    house.publish({ agoMs: 300_000 });
    house.pollers.start();
    await house.clock.advance(10);
    isOld = true;
    const ids = burst(house, 100);
    await house.clock.advance(600_000);
    assert.deepEqual((await house.log()).gaps, []);
    const entries = await house.entries();
    assert.ok(ids.every((id) => entries.includes(id)));
    await house.pollers.stop();
  });

  it('is told as FEED_TRUNCATED, and final, where the upstream keeps no more', async () => {
    const house = await settled({ feedDepth: 100 });
    const ids = burst(house, 250);
    await house.clock.advance(180_000);
    const { gaps } = await house.log();
    assert.deepEqual(
      gaps.map(({ reason, final }) => [reason, final]),
      [['FEED_TRUNCATED', true]],
    );
    assert.deepEqual((await house.entries()).slice(3), ids.slice(-100));
  });

  it('is told as FEED_TRUNCATED also where its filling finds the end', async () => {
    const house = await settled({ feedDepth: 100, maxPagesPerPoll: 1 });
    burst(house, 250);
    await house.clock.advance(180_000);
    const { gaps } = await house.log();
    assert.deepEqual(
      gaps.map(({ reason, final }) => [reason, final]),
      [['FEED_TRUNCATED', true]],
    );
    assert.equal((await house.entries()).length, 103);
  });

  it('is told wherever a timeline ends before anything that is known, however many posts it may keep', async () => {
    const ends = async (shown: number) => {
      const house = await settled({ feedDepth: shown, described: { feedDepths: [400, 800] } });
      burst(house, 900);
      await house.clock.advance(180_000);
      return (await house.log()).gaps.map(({ reason, final }) => [reason, final]);
    };
    assert.deepEqual(await ends(400), [['FEED_TRUNCATED', true]]);
    assert.deepEqual(await ends(390), [['FEED_TRUNCATED', true]], 'some were deleted meanwhile');
    assert.deepEqual(await ends(600), [['FEED_TRUNCATED', true]]);
    assert.deepEqual(await ends(800), [['FEED_TRUNCATED', true]]);
  });

  it('is none where the source was only quiet for longer than its upstream shows posts', async () => {
    const house = await settled({ described: { feedMs: 3_600_000 } });
    const old = await house.entries();
    await house.clock.advance(7_200_000);
    for (const id of old) house.server.timeline.change(id, { isDeleted: true });
    house.publish();
    await house.clock.advance(60_000);
    assert.equal((await house.entries()).length, old.length + 1);
    assert.deepEqual((await house.log()).gaps, []);
  });

  it('begins at the last whole poll where nothing could be read for longer than the upstream shows posts', async () => {
    const house = await settled({ described: { feedMs: 3_600_000 } });
    const old = await house.entries();
    await house.clock.advance(7_200_000);
    const outageAtMs = house.server.now();
    house.refuse = () => true;
    await house.clock.advance(7_200_000);
    for (const id of old) house.server.timeline.change(id, { isDeleted: true });
    house.refuse = () => false;
    house.publish();
    await house.clock.advance(120_000);
    const [gap] = (await house.log()).gaps;
    assert.deepEqual([gap?.reason, gap?.final], ['FEED_TRUNCATED', true]);
    assert.ok(gap?.fromMs !== undefined && Math.abs(gap.fromMs - outageAtMs) < 600_000);
  });

  it('is forgotten, when final, with the entries of its time', async () => {
    const house = await settled({ feedDepth: 100, keepHours: 1 });
    burst(house, 250);
    await house.clock.advance(60_000);
    assert.equal((await house.log()).gaps.length, 1);
    await house.clock.advance(3_700_000);
    house.publish();
    await house.clock.advance(60_000);
    assert.deepEqual((await house.log()).gaps, []);
  });

  it('is final, not filled, where pages of left-out posts hide how far it reaches', async () => {
    const harness = await settled({ maxPagesPerPoll: 2 });
    const below = Array.from({ length: 60 }, (_, n) => harness.publish({ agoMs: 8000 + (60 - n) * 10 }));
    for (let n = 320; n > 0; n -= 1) harness.publish({ agoMs: 4000 + n * 10, isHidden: true });
    burst(harness, 80);
    await harness.clock.advance(3_600_000);
    const entries = await harness.entries();
    const { gaps } = await harness.log();
    assert.ok(below.some((id) => !entries.includes(id)));
    assert.deepEqual(
      gaps.map(({ reason, final }) => [reason, final]),
      [['FEED_TRUNCATED', true]],
    );
  });
});
