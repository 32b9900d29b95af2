import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError } from '../../src/errors.ts';
import { openStore } from '../../src/stores/registry.ts';

describe('the store that the settings name', () => {
  it('may be embedded', async (t) => {
    const store = await openStore('sqlite::memory:');
    t.after(() => store.close());
    await store.ping();
  });

  for (const spec of [
    'redis://:hunter2@localhost:6379',
    'rediss://ann:hunter2@redis.example',
    { kind: 'sentinel', password: 'hunter2' },
    { kind: 'cluster' },
    { feeds: 'redis://:hunter2@a', timelines: 'sqlite:b' },
  ]) {
    const named = typeof spec === 'string' ? spec.split(':')[0] : Object.values(spec)[0];
    it(`is refused as not of this release, without its password: ${named}`, async () => {
      await assert.rejects(openStore(spec), (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, /embedded store only.*Redis comes with a later one/);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });
  }

  for (const spec of ['', 'sqlite', 'sluice.db', 'postgres://u:hunter2@h', 'sqlite:', { kind: 'mongo' }]) {
    it(`is refused when it is no store: ${JSON.stringify(spec).replace('hunter2', '…')}`, async () => {
      await assert.rejects(openStore(spec), (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, /^store: required sqlite:PATH or sqlite::memory:, got /);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });
  }
});
