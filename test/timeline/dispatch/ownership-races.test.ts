import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOwnership, type Ownership } from '../../../src/timeline/dispatch/ownership.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { settle } from './harness.ts';
import { createMemoryStores } from './memory-stores.ts';

describe('a token that another gateway took', () => {
  it('is not taken back by what its former gateway still saves', async () => {
    const clock = createVirtualClock();
    const stores = createMemoryStores(clock);
    const calls: string[] = [];
    // The former gateway has just read the other one's note, and asks whether that one lives.
    const leases = {
      ...stores.leases,
      async holders(names: readonly string[], nowMs: number) {
        calls.push(`saved: ${await former.save('town', { state: 'of the former', mostUnsaved: 1 })}`);
        return stores.leases.holders(names, nowMs);
      },
    };
    const former: Ownership = createOwnership({ ...stores, leases, clock, holder: 'former' });
    former.claim({ token: 'town', logs: ['log'], taken() {}, resumed() {}, lost: () => void calls.push('lost') });
    void former.run();
    await settle(clock);
    assert.equal(former.owns('town'), true);
    stores.isOut = true;
    await clock.advance(6000);
    stores.isOut = false;
    await stores.leases.acquire({ name: 'gateway:other', holder: 'other', ttlMs: 5000, nowMs: clock.now() });
    const note = JSON.parse(stores.body('token:town') ?? '');
    await stores.notes.write({ name: 'token:town', body: JSON.stringify({ ...note, owner: 'other' }) });
    await clock.advance(1000);
    assert.deepEqual(calls.slice(0, 2), ['lost', 'saved: false']);
    assert.equal(JSON.parse(stores.body('token:town') ?? '').owner, 'other');
    await former.stop();
  });
});
