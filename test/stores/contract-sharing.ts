import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/stores/registry.ts';
import type { Use } from './contract.ts';
import { publication } from './contract-feeds.ts';
import { appendTo, HOUR, NOW, sampleRecord } from './samples.ts';

const COMMITTER = fileURLToPath(new URL('./committer.ts', import.meta.url));

/** Several gateways on one store, and gateways that are killed. `callsOthers`: signals reach other processes. */
export function describeSharing(use: Use, spec: () => string, callsOthers: boolean): void {
  describe('several gateways', () => {
    it('see what another wrote, and one of those who read a version wins', async (t) => {
      const store = await use(t);
      const other = await openStore(spec());
      t.after(() => other.close());
      const state = await appendTo(store, 'town', ['1']);
      assert.deepEqual(await other.timelines.readLog('town'), state);
      const commit = { logId: 'town', expectedVersion: 1, nowMs: NOW, posts: [] };
      const results = await Promise.all([
        store.timelines.commit({ ...commit, append: [sampleRecord('2')] }),
        other.timelines.commit({ ...commit, append: [sampleRecord('2')] }),
      ]);
      assert.equal(results.filter((result) => result.committed).length, 1);

      const winners = await Promise.all(
        [store, other].map(({ feeds }, index) =>
          feeds.publish({ ...publication('ann', `f${index}`), aliasTtlMs: HOUR }),
        ),
      );
      assert.equal(winners[0]?.feedId, winners[1]?.feedId);
      const [mine, theirs] = await Promise.all(
        [store, other].map(({ secrets }, index) => secrets.getOrCreate('tokens', Buffer.from(`key ${index}`))),
      );
      assert.deepEqual(mine, theirs);
    });

    it('list a log again that one drops and another commits to', async (t) => {
      const store = await use(t);
      const other = await openStore(spec());
      t.after(() => other.close());
      await appendTo(other, 'town', ['1']);
      await store.timelines.dropLog('town');
      assert.deepEqual(await other.timelines.listLogs(), []);
      await appendTo(other, 'town', ['2']);
      assert.deepEqual(await store.timelines.listLogs(), [{ logId: 'town' }]);
    });

    if (callsOthers) {
      it('hear each other', async (t) => {
        const store = await use(t);
        const other = await openStore(spec());
        t.after(() => other.close());
        const heard = new Set<string>();
        other.signals.listen((name) => heard.add(name));
        // The first ones may be lost.
        while (heard.size === 0) await store.signals.send('town');
        assert.deepEqual([...heard], ['town']);
      });
    }

    it('that race in processes of their own win each version once', async (t) => {
      const store = await use(t);
      const racers = ['1', '2'].map((first) => startCommitter(spec(), first, '2', 40));
      const versions = (await Promise.all(racers.map(({ acknowledged }) => acknowledged))).flat();
      const expected = Array.from({ length: 80 }, (_, index) => index + 1);
      assert.deepEqual(
        versions.toSorted((a, b) => a - b),
        expected,
      );
      const records = await store.timelines.recordsAfter({ logId: 'town', limit: 999 });
      assert.equal(new Set(records.map((record) => record.position)).size, 80);
      assert.deepEqual(
        records.map((record) => Number(record.postId)).toSorted((a, b) => a - b),
        expected,
      );
    });

    it('keep everything that was acknowledged when they are killed', async (t) => {
      const store = await use(t);
      const { child, acknowledged } = startCommitter(spec(), '1', '1', 1_000_000, 30);
      const told = (await acknowledged).length;
      assert.ok(told >= 30);
      assert.equal(child.signalCode, 'SIGKILL');
      const { version } = await store.timelines.readLog('town');
      assert.ok(version >= told, `version ${version} after ${told} acknowledged commits`);
      const records = await store.timelines.recordsAfter({ logId: 'town', limit: 999_999 });
      assert.equal(records.length, version);
      assert.equal((await store.posts.getPosts(records.map((record) => record.postId))).size, version);
      assert.equal((await appendTo(store, 'town', ['999999'])).version, version + 1);
    });
  });
}

/** Gives the acknowledged versions once the process has ended; it is killed as soon as `killAfter` of them came. */
function startCommitter(
  spec: string,
  first: string,
  step: string,
  count: number,
  killAfter = Number.POSITIVE_INFINITY,
) {
  const child = spawn(process.execPath, [COMMITTER, spec, first, step, `${count}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, acknowledged: readVersions(child, killAfter) };
}

async function readVersions(child: ChildProcess, killAfter: number): Promise<number[]> {
  const closed = once(child, 'close');
  const versions: number[] = [];
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout })) {
      versions.push(Number(line));
      if (versions.length === killAfter) child.kill('SIGKILL');
    }
  }
  await closed;
  return versions;
}
