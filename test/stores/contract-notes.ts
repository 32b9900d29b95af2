import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Use } from './contract.ts';

/** Small records that gateways share. */
export function describeNotes(use: Use): void {
  describe('notes', () => {
    it('are read with their version, and those that nobody wrote are absent', async (t) => {
      const { notes } = await use(t);
      const body = ' 7 line\n\n{"a":"ü🦊"} ';
      assert.equal(await notes.write({ name: 'town a', body }), 1);
      assert.equal(await notes.write({ name: 'empty', body: '' }), 1);
      const found = await notes.read(['town a', 'none', 'empty', 'town a']);
      assert.deepEqual(
        found,
        new Map([
          ['town a', { version: 1, body }],
          ['empty', { version: 1, body: '' }],
        ]),
      );
      assert.deepEqual(await notes.read([]), new Map());
    });

    it('are only written by who read the present version', async (t) => {
      const { notes } = await use(t);
      const write = (body: string, expectedVersion: number) => notes.write({ name: 'a', body, expectedVersion });
      assert.equal(await write('too soon', 1), undefined);
      assert.equal((await notes.read(['a'])).size, 0);
      assert.equal(await write('first', 0), 1);
      assert.equal(await write('second', 1), 2);
      for (const stale of [0, 1, 3]) assert.equal(await write('stale', stale), undefined);
      assert.deepEqual((await notes.read(['a'])).get('a'), { version: 2, body: 'second' });
    });

    it('have one winner where many write on one version', async (t) => {
      const { notes } = await use(t);
      const bodies = Array.from({ length: 20 }, (_, n) => `writer ${n}`);
      const versions = await Promise.all(bodies.map((body) => notes.write({ name: 'a', body, expectedVersion: 0 })));
      assert.deepEqual(
        versions.filter((version) => version !== undefined),
        [1],
      );
      const winner = bodies[versions.indexOf(1)];
      assert.deepEqual((await notes.read(['a'])).get('a'), { version: 1, body: winner });
    });

    it('are written whatever their version is by who expects none', async (t) => {
      const { notes } = await use(t);
      for (const version of [1, 2, 3]) assert.equal(await notes.write({ name: 'a', body: 'x' }), version);
    });

    it('are gone once they were removed, and may be made anew', async (t) => {
      const { notes } = await use(t);
      await notes.write({ name: 'a', body: '1' });
      await notes.write({ name: 'b', body: '1' });
      await notes.remove(['a', 'none']);
      await notes.remove([]);
      assert.deepEqual([...(await notes.read(['a', 'b'])).keys()], ['b']);
      assert.ok(await notes.write({ name: 'a', body: '2', expectedVersion: 0 }));
    });

    it('of odd names are notes of their own', async (t) => {
      const { notes } = await use(t);
      const names = ['a', 'a:', 'A', '{a}', '', '%', '%25', "a'; --", 'ü', 'a\u0000b', 'a b', '*'];
      for (const [n, name] of names.entries()) {
        assert.equal(await notes.write({ name, body: `${n}`, expectedVersion: 0 }), 1);
      }
      const expected = new Map(names.map((name, n) => [name, { version: 1, body: `${n}` }]));
      assert.deepEqual(await notes.read(names), expected);
    });

    it('are read and removed by any number of names', async (t) => {
      const { notes } = await use(t);
      const names = Array.from({ length: 10_000 }, (_, n) => `note ${n}`);
      for (const name of [names[0], names[4999], names[9999]]) await notes.write({ name: name ?? '', body: 'x' });
      assert.deepEqual([...(await notes.read(names)).keys()], ['note 0', 'note 4999', 'note 9999']);
      await notes.remove(names);
      assert.equal((await notes.read(names)).size, 0);
    });
  });
}
