import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { settingsJsonSchema } from '../../src/config/json-schema.ts';
import { loadSettings } from '../../src/config.ts';

const root = new URL('../../', import.meta.url);
const environment = { TOWN_TOKEN: 'town-token', BIRD_TOKEN: 'bird-token' };

describe('the published JSON Schema', () => {
  it('is the one that the check is made of: else run `npm run schema`', () => {
    const published = JSON.parse(readFileSync(new URL('sluice.schema.json', root), 'utf8'));
    assert.deepEqual(published, JSON.parse(JSON.stringify(settingsJsonSchema())));
  });

  it('names every section, and refuses unknown keys', () => {
    const { properties, additionalProperties } = settingsJsonSchema() as {
      properties: Record<string, { additionalProperties?: unknown }>;
      additionalProperties: unknown;
    };
    const sections = [
      '$schema',
      'sources',
      'store',
      'server',
      'auth',
      'tokens',
      'forYou',
      'timeline',
      'polling',
      'ids',
      'operator',
    ];
    assert.deepEqual(Object.keys(properties), sections);
    assert.equal(additionalProperties, false);
    assert.equal(properties.server?.additionalProperties, false);
  });
});

describe('the example settings', () => {
  for (const file of ['examples/sluice.config.ts', 'examples/sluice.config.json']) {
    it(`in ${file} are valid`, async () => {
      const loaded = await loadSettings({ file: new URL(file, root).pathname, cwd: '/', env: environment });
      assert.ok((loaded?.settings.sources.length ?? 0) >= 2);
    });
  }
});
