import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IdsUnavailableError, RateLimitedError, StoreUnavailableError } from '../src/errors.ts';
import { createIdService, type IdService } from '../src/id-service.ts';
import { CECOCHAT, decodeSnowflake } from '../src/ids/snowflake.ts';
import type { GeneratorStore } from '../src/stores/generator-store.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

const generatorOf = (id: string) => decodeSnowflake(CECOCHAT, id).generator;

/** A service that runs, as one gateway's does, and what it logs. */
function begin(generators: GeneratorStore, clock: VirtualClock, holder: string) {
  const lines: string[] = [];
  const service = createIdService({ generators, clock, holder, log: (line) => lines.push(line) });
  const ended = service.run();
  return {
    service,
    lines,
    stop() {
      service.stop();
      return ended;
    },
  };
}

async function open() {
  const clock = createVirtualClock();
  const { generators } = await openSqliteStore({ file: ':memory:' });
  return { clock, generators };
}

function refusal(service: IdService, count = 1): unknown {
  try {
    service.next('ann', count);
  } catch (error) {
    return error;
  }
}

/** Asks until there are ids: where another may have issued, there are none yet. */
async function untilGiven(clock: VirtualClock, take: () => readonly string[]): Promise<readonly string[]> {
  for (;;) {
    try {
      return take();
    } catch (error) {
      if (!(error instanceof IdsUnavailableError)) throw error;
      await clock.advance(500);
    }
  }
}

describe('the id service', () => {
  it('gives ids that no two gateways share, over restarts and clocks that step', async () => {
    const { clock, generators } = await open();
    const seen = new Set<string>();
    let count = 0;
    const take = ({ service }: { service: IdService }) => {
      const ids = service.next(`user ${count}`, 1000);
      for (const id of ids) seen.add(id);
      count += ids.length;
    };
    for (let life = 0; life < 300; life += 1) {
      const gateways = ['a', 'b', 'c'].map((name) => begin(generators, clock, `${name}${life}`));
      await clock.advance(1);
      for (const gateway of gateways) take(gateway);
      if (life % 7 === 0) clock.step(-400);
      if (life % 11 === 0) await clock.advance(4000);
      for (const gateway of gateways) take(gateway);
      await Promise.all(gateways.map(({ stop }) => stop()));
    }
    assert.equal(seen.size, count);
    assert.equal(count, 300 * 6 * 1000);
  });

  it('gives no id again when its generator is another gateway’s at once', async () => {
    const { clock, generators } = await open();
    const others = Array.from({ length: 255 }, (_, n) => begin(generators, clock, `other ${n}`));
    await clock.advance(1);
    const seen = new Set<string>();
    let count = 0;
    for (let life = 0; life < 20; life += 1) {
      const { service, stop } = begin(generators, clock, `life ${life}`);
      await clock.advance(1);
      for (let batch = 0; batch < 3; batch += 1) {
        const ids = await untilGiven(clock, () => service.next('ann', 16_384));
        for (const id of ids) seen.add(id);
        count += ids.length;
      }
      await stop();
    }
    assert.equal(seen.size, count);
    await Promise.all(others.map(({ stop }) => stop()));
  });

  it('says that all generators are taken, and takes the first that is free', async () => {
    const { clock, generators } = await open();
    const others = Array.from({ length: 256 }, (_, n) => begin(generators, clock, `other ${n}`));
    await clock.advance(1);
    const late = begin(generators, clock, 'late');
    await clock.advance(1);
    const error = refusal(late.service);
    assert.ok(error instanceof IdsUnavailableError);
    assert.match(error.message, /all 256 generators are taken/);
    assert.ok((error.retryAtMs ?? 0) > clock.now());
    await others[77]?.stop();
    await clock.advance(10_000);
    assert.equal(generatorOf(late.service.next('ann', 1)[0] ?? ''), 77);
    await Promise.all([late, ...others].map(({ stop }) => stop()));
  });

  it('stops before its lease could have passed on, and goes on above what the next holder may have issued', async () => {
    const { clock, generators } = await open();
    let isOut = false;
    const flaky: GeneratorStore = {
      lease: async (query) => {
        if (isOut) throw new StoreUnavailableError('the store is out');
        return generators.lease(query);
      },
      release: generators.release,
    };
    const { service, stop } = begin(flaky, clock, 'a');
    await clock.advance(1);
    const before = service.next('ann', 1)[0] ?? '';
    isOut = true;
    await clock.advance(4000);
    assert.ok(service.next('ann', 1)[0], 'the lease holds');
    await clock.advance(1000);
    assert.ok(refusal(service) instanceof IdsUnavailableError, 'it may be another’s now');
    const next = begin(generators, clock, 'b');
    await clock.advance(1);
    const others = next.service.next('bob', 16_384);
    isOut = false;
    await clock.advance(2000);
    const after = service.next('ann', 1)[0] ?? '';
    assert.equal(new Set([before, after, ...others]).size, 16_386);
    await Promise.all([stop(), next.stop()]);
  });

  it('goes on at once when the replies to its renewals were lost', async () => {
    const { clock, generators } = await open();
    let isLosing = false;
    const { service, stop } = begin(
      {
        ...generators,
        lease: async (query) => {
          const lease = await generators.lease(query);
          if (isLosing) throw new StoreUnavailableError('the reply was lost');
          return lease;
        },
      },
      clock,
      'a',
    );
    await clock.advance(1);
    const [before = ''] = service.next('ann', 1);
    isLosing = true;
    await clock.advance(3300);
    isLosing = false;
    for (let waitedMs = 0; waitedMs < 5000; waitedMs += 500) {
      await clock.advance(500);
      const [after = ''] = service.next('ann', 1);
      assert.ok(BigInt(after) > BigInt(before));
      assert.equal(generatorOf(after), generatorOf(before));
    }
    await stop();
  });

  it('issues nothing while the store waits out a failover', async () => {
    const { clock, generators } = await open();
    let isPaused = false;
    const { service, stop } = begin(
      { ...generators, lease: async (query) => (isPaused ? 'paused' : generators.lease(query)) },
      clock,
      'a',
    );
    await clock.advance(1);
    assert.equal(service.next('ann', 5).length, 5);
    isPaused = true;
    await clock.advance(1600);
    assert.match(String(refusal(service)), /failed over/);
    isPaused = false;
    await clock.advance(1000);
    assert.equal(service.next('ann', 5).length, 5);
    await stop();
  });

  it('bounds what one user takes, and no other', async () => {
    const { clock, generators } = await open();
    const { service, stop } = begin(generators, clock, 'a');
    await clock.advance(1);
    for (let n = 0; n < 10; n += 1) service.next('ann', 16_384);
    const error = refusal(service, 2);
    assert.ok(error instanceof RateLimitedError);
    assert.ok(error.retryAtMs > clock.now() && error.retryAtMs <= clock.now() + 1000);
    assert.equal(service.next('bob', 2).length, 2);
    await clock.advance(1000);
    assert.equal(service.next('ann', 16_384).length, 16_384);
    await stop();
  });
});
