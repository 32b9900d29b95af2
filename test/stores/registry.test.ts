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

  for (const spec of ['', 'sqlite', 'sluice.db', 'postgres://u:hunter2@h', 'sqlite:', { kind: 'mongo' } as never]) {
    it(`is refused when it is no store: ${JSON.stringify(spec).replace('hunter2', '…')}`, async () => {
      await assert.rejects(openStore(spec), (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(
          error.message,
          /^store: required sqlite:PATH(, sqlite::memory: or redis:\/\/HOST| or sqlite::memory:), got /,
        );
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });
  }
});
