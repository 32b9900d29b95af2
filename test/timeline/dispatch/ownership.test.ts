import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOwnership } from '../../../src/timeline/dispatch/ownership.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createGateway, type Gateway, limitIn, never, type SourceOptions, settle } from './harness.ts';
import { createMemoryStores } from './memory-stores.ts';

/** Gateways over one store; each source polls when it is due at the interval that is named, if any. */
function fleet(holders: readonly string[], ...sources: readonly SourceOptions[]) {
  const clock = createVirtualClock();
  const stores = createMemoryStores(clock);
  const start = (holder: string, its: readonly SourceOptions[] = sources.length > 0 ? sources : [{}]) => {
    const gateway = createGateway(stores, clock, { holder, sources: its });
    gateway.start();
    return gateway;
  };
  const gateways = holders.map((holder) => start(holder));
  return { clock, stores, start, gateways: gateways as [Gateway, Gateway, Gateway] };
}

const owners = (...gateways: readonly Gateway[]) => gateways.map(({ dispatcher }) => dispatcher.isOwner());
const calls = ({ sources }: Gateway) => sources[0]?.calls.join(' ');

/** One poll of the first source, now. */
async function poll({ dispatcher, sources }: Gateway, clock: ReturnType<typeof createVirtualClock>, pages = 1) {
  const [source] = sources;
  assert.ok(source);
  Object.assign(source, { pages, wants: [{ kind: 'poll' }], mostJobs: source.jobs.length + 1 });
  dispatcher.wake();
  await settle(clock);
}

/** How many requests the first source may send, up to `most`, as fast as it can. */
async function walk({ sources: [source] }: Gateway, most: number): Promise<number> {
  for (let sent = 0; sent < most; sent += 1) {
    const request = { pool: 'poll', kind: 'page', signal: never } as const;
    const isSent = await source?.requests
      .send(request, async () => ({}))
      .then(
        () => true,
        () => false,
      );
    if (!isSent) return sent;
  }
  return most;
}

describe('a token', () => {
  it('is dispatched by one gateway of several', async () => {
    const { clock, gateways } = fleet(['a', 'b', 'c']);
    await clock.advance(60_000);
    assert.equal(owners(...gateways).filter(Boolean).length, 1);
  });

  it('is taken over at once from one that stops, within seconds from one that is killed', async () => {
    const { clock, gateways } = fleet(['a', 'b', 'c']);
    const [a, b, c] = gateways;
    await clock.advance(1000);
    assert.deepEqual(owners(a, b, c), [true, false, false]);
    const stopped = a.stop();
    await settle(clock);
    await stopped;
    await clock.advance(900);
    assert.equal(owners(b, c).filter(Boolean).length, 1);
    const [owner, other] = b.dispatcher.isOwner() ? [b, c] : [c, b];
    owner.kill();
    await clock.advance(4000);
    assert.equal(other.dispatcher.isOwner(), false);
    await clock.advance(3000);
    assert.equal(other.dispatcher.isOwner(), true);
  });

  it('is not dispatched while the store is out, and goes on with what its gateway knew', async () => {
    const { clock, stores, gateways } = fleet(['a', 'b'], { maxPostsPerDay: 100 });
    const [a, b] = gateways;
    await clock.advance(1000);
    a.sources[0]?.requests.day?.read(30);
    await poll(a, clock);
    for (let n = 0; n < 3; n += 1) {
      stores.isOut = true;
      await clock.advance(6000);
      assert.deepEqual(owners(a, b), [false, false]);
      await poll(a, clock);
      assert.equal(a.sources[0]?.jobs.length, n + 1, 'nothing is begun');
      stores.isOut = false;
      await clock.advance(1000);
      await settle(clock);
    }
    assert.deepEqual(owners(a, b), [true, false]);
    assert.equal(a.sources[0]?.requests.day?.state().posts, 30, 'an outage counts nothing twice');
    assert.equal(calls(a), 'adopt');
  });

  it('whose gateway stood still sends nothing of a walk under way once another took over', async () => {
    const { clock, gateways } = fleet(['a', 'b']);
    const [a, b] = gateways;
    await clock.advance(1000);
    const [source] = a.sources;
    assert.ok(source);
    let sent = 0;
    source.answer = async () => {
      sent += 1;
      await clock.sleep(100);
      return {};
    };
    await poll(a, clock, 100);
    const resume = a.pause();
    await clock.advance(10_000);
    assert.equal(b.dispatcher.isOwner(), true);
    const before = sent;
    resume();
    await clock.advance(10_000);
    assert.equal(sent, before);
    assert.deepEqual([owners(a, b), calls(a), calls(b)], [[false, true], 'adopt lost', 'adopt']);
  });

  it('goes by turns between gateways whose settings name other logs of it', async () => {
    const shared = { logId: 'shared' };
    const { clock, start, gateways } = fleet(['a'], shared, { logId: 'of a' });
    const [a] = gateways;
    await clock.advance(1000);
    const b = start('b', [shared, { logId: 'of b' }]);
    const like = start('like', [shared]);
    await clock.advance(50_000);
    assert.deepEqual(owners(a, b, like), [true, false, false]);
    let turns = 0;
    for (let n = 0; n < 10; n += 1) {
      await poll(a, clock);
      await poll(b, clock);
      const [hadA] = owners(a);
      await clock.advance(30_000);
      await poll(a, clock);
      await poll(b, clock);
      if (hadA !== owners(a)[0]) turns += 1;
    }
    assert.ok(turns >= 4 && turns <= 6, `${turns} in 5 min`);
    assert.equal(like.sources[0]?.calls.length, 0, 'whose logs are all read has no reason');
  });

  it('that was taken or saved by a write without an answer is this gateway’s', async () => {
    const { clock, stores, gateways } = fleet(['a']);
    const [a] = gateways;
    stores.losesAnswers = true;
    await settle(clock);
    assert.equal(a.dispatcher.isOwner(), false);
    stores.losesAnswers = false;
    await clock.advance(1000);
    assert.deepEqual([a.dispatcher.isOwner(), calls(a)], [true, 'adopt']);
    stores.losesAnswers = true;
    await poll(a, clock);
    stores.losesAnswers = false;
    await clock.advance(2000);
    for (let n = 0; n < 12; n += 1) await poll(a, clock);
    assert.deepEqual([a.dispatcher.isOwner(), a.sources[0]?.jobs.length, calls(a)], [true, 13, 'adopt']);
  });

  it('has at most 8 requests that are in no note, whatever its jobs are', async () => {
    const { clock, stores, gateways } = fleet(['a'], {}, {}, {});
    const [a] = gateways;
    await clock.advance(1000);
    const { write } = stores.notes;
    let unsaved = 0;
    let most = 0;
    let sent = 0;
    stores.notes.write = async (note) => {
      const version = await write(note);
      unsaved = 0;
      return version;
    };
    for (const source of a.sources) {
      Object.assign(source, { pages: 50, mostJobs: 1, wants: [{ kind: 'poll' }] });
      source.answer = async () => {
        sent += 1;
        unsaved += 1;
        most = Math.max(most, unsaved);
        return {};
      };
    }
    a.dispatcher.wake();
    await clock.advance(1000);
    assert.deepEqual([sent, most], [150, 8]);
  });

  it('sends no more than is allowed, by two gateways together, wherever the first is killed', async () => {
    for (const isTold of [true, false]) {
      for (let killedAfter = 1; killedAfter <= 20; killedAfter += 1) {
        const throttles = isTold ? [] : [{ requests: 20, windowMs: 900_000, counts: 'pages' as const }];
        const { clock, gateways } = fleet(['a', 'b'], { throttles });
        const [a, b] = gateways;
        await clock.advance(1000);
        const [source] = a.sources;
        assert.ok(source);
        source.answer = async () => (isTold ? { rateLimit: limitIn(clock, [20, 19, 900_000]) } : {});
        await poll(a, clock);
        let sent = 1 + (await walk(a, killedAfter - 1));
        a.kill();
        await clock.advance(10_000);
        sent += await walk(b, 100);
        assert.ok(
          sent <= 20 && sent >= 20 - (isTold ? 8 : 1),
          `${sent} of 20 (${isTold}), the first ${killedAfter} by the one killed`,
        );
      }
    }
  });

  it('has all of a small throttle for its polls, although one gateway after the other is killed', async () => {
    const throttles = [{ requests: 60, windowMs: 900_000, counts: 'pages' as const }];
    const { clock, gateways } = fleet(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], { throttles });
    let sent = 0;
    for (const gateway of gateways) {
      await clock.advance(10_000);
      const owner = gateways.find(({ dispatcher }) => dispatcher.isOwner()) ?? gateway;
      sent += await walk(owner, 5);
      owner.kill();
    }
    assert.equal(sent, 40);
  });

  it('is known to its next gateway with its limits, holds, counts and refusals', async () => {
    const { clock, gateways } = fleet(['a', 'b'], { maxPostsPerDay: 100 }, { throttles: [PAGING] });
    const [a, b] = gateways;
    await clock.advance(1000);
    const [one] = a.sources;
    assert.ok(one);
    one.answer = async () => ({ rateLimit: limitIn(clock, [300, 100, 900_000]) });
    await poll(a, clock);
    one.requests.day?.read(40);
    await clock.advance(10_000);
    one.answer = async () => ({ rateLimit: limitIn(clock, [15, 0, 600_000]) });
    await poll(a, clock);
    const stopped = a.stop();
    await settle(clock);
    await stopped;
    await clock.advance(2000);
    const [first, second] = b.sources;
    assert.equal(first?.requests.blockedMs(), 598_000);
    assert.equal(first?.requests.day?.left('poll'), 60);
    assert.equal(second?.requests.blockedMs(), 598_000);
    await clock.advance(598_000);
    assert.equal(first?.requests.blockedMs(), 0);
    assert.equal(calls(a), 'adopt', 'who stops is not told that it lost');
  });
});

describe('reads by id', () => {
  it('are shared by all gateways, and told to them by the one that dispatches', async () => {
    const { clock, gateways } = fleet(['a', 'b', 'c']);
    await clock.advance(1000);
    const [a] = gateways;
    const [source] = a.sources;
    assert.ok(source);
    source.answer = async () => ({ rateLimit: limitIn(clock, [1000, 1000, 1_000_000]) });
    await poll(a, clock);
    await clock.advance(6000);
    let taken = 0;
    for (let n = 0; n < 300; n += 1) {
      for (const { sources } of gateways) {
        const requests = (await sources[0]?.requests.takeById(3)) ?? 0;
        sources[0]?.requests.fetchedById({ requests });
        taken += requests;
      }
      await clock.advance(1000);
    }
    assert.ok(taken >= 35 && taken <= 45, `${taken} in 300 s: a tenth of one a second, and 10 at once`);
    source.answer = async () => ({ rateLimit: limitIn(clock, [1000, 0, 500_000]) });
    await poll(a, clock);
    await clock.advance(60_000);
    for (const { sources } of gateways) assert.equal(await sources[0]?.requests.takeById(1), 0);
  });

  it('are the dispatching gateway’s alone where a throttle leaves less than two of them', async () => {
    const hidden = { requests: 1, windowMs: 1100, counts: 'all' } as const;
    const { clock, gateways } = fleet(['a', 'b'], { throttles: [hidden] });
    const [a, b] = gateways;
    await clock.advance(1000);
    await poll(a, clock);
    await clock.advance(10_000);
    assert.equal(await b.sources[0]?.requests.takeById(1), 0);
    assert.equal(await a.sources[0]?.requests.takeById(3), 1);
    assert.equal(await a.sources[0]?.requests.takeById(3), 0, 'one in 1.1 s');
  });
});

describe('ten thousand tokens', () => {
  it('cost one lease, and another gateway a look at one holder', async () => {
    const clock = createVirtualClock();
    const stores = createMemoryStores(clock);
    const ownership = (holder: string) => createOwnership({ ...stores, clock, holder });
    const [a, b] = [ownership('a'), ownership('b')];
    const claim = { logs: ['log'], taken() {}, lost() {}, resumed() {} };
    for (const each of [a, b]) for (let n = 0; n < 10_000; n += 1) each.claim({ token: `${n}`, ...claim });
    void a.run();
    await settle(clock);
    await clock.advance(1000);
    void b.run();
    await clock.advance(60_000);
    assert.equal(Array.from({ length: 10_000 }, (_, n) => a.owns(`${n}`)).filter(Boolean).length, 10_000);
    const before = { ...stores.calls };
    await clock.advance(160_000);
    assert.ok(stores.calls.leases - before.leases <= 2 * 101, 'each 1.6 s');
    assert.ok(stores.calls.holders - before.holders <= 201, 'each 0.8 s');
    const { notesRead, notesWritten } = stores.calls;
    assert.ok(notesRead - before.notesRead <= 6 * 10_000, `${notesRead - before.notesRead} in 160 s`);
    assert.equal(notesWritten, before.notesWritten);
  });
});

const PAGING = { requests: 300, windowMs: 900_000, counts: 'pages' } as const;
