import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadSettings } from '../../src/config.ts';
import { ConfigError } from '../../src/errors.ts';

const dirs: string[] = [];
after(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true });
});

/** A fresh folder with these files. */
function folder(files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-config-'));
  dirs.push(dir);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

async function problemIn(files: Record<string, string>, named: { file?: string; env?: Record<string, string> } = {}) {
  const cwd = folder(files);
  try {
    await loadSettings({ file: named.file, cwd, env: named.env ?? {} });
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(cwd, 'DIR');
    throw error;
  }
  return 'no problem';
}

const town = '{ kind: "mastodon", url: "https://town.example", timeline: { type: "public" } }';
const good = `export default { sources: { town: ${town} } };`;
const json =
  '{"sources": {"town": {"kind": "mastodon", "url": "https://town.example", "timeline": {"type": "public"}}}}';

describe('the settings file', () => {
  it('may be missing when none was named', async () => {
    assert.equal(await loadSettings({ cwd: folder({}), env: {} }), undefined);
  });

  for (const [name, text] of Object.entries({
    'sluice.config.ts': `const kind: string = 'types are fine'; ${good}`,
    'sluice.config.js': good,
    'sluice.config.json': `\uFEFF${json}`,
  })) {
    it(`is found as ${name}`, async () => {
      const cwd = folder({ [name]: text, 'other.json': '{}' });
      const loaded = await loadSettings({ cwd, env: {} });
      assert.equal(loaded?.file, join(cwd, name));
      assert.equal(loaded?.settings.sources[0]?.key, 'town');
    });
  }

  it('is the one that --config names, else SLUICE_CONFIG, else the one in the folder', async () => {
    const named = (key: string) => json.replace('town', key);
    const cwd = folder({
      'sluice.config.json': named('third'),
      'second.json': named('second'),
      'first.json': named('first'),
    });
    const keyOf = async (file: string | undefined, env: Record<string, string>) =>
      (await loadSettings({ file, cwd, env }))?.settings.sources[0]?.key;
    assert.equal(await keyOf('first.json', { SLUICE_CONFIG: 'second.json' }), 'first');
    assert.equal(await keyOf(undefined, { SLUICE_CONFIG: join(cwd, 'second.json') }), 'second');
    assert.equal(await keyOf(undefined, {}), 'third');
  });

  it('may import sluice/config in any folder, and read the environment when it is checked', async () => {
    const text = `import { defineConfig, env } from 'sluice/config';
      export default defineConfig({ sources: { home: { ...${town}, token: env('TOWN_TOKEN') } } });`;
    const cwd = folder({ 'sluice.config.ts': text });
    await assert.rejects(loadSettings({ cwd, env: {} }), new ConfigError('sources.home.token: TOWN_TOKEN is not set'));
    const loaded = await loadSettings({ cwd, env: { TOWN_TOKEN: 'from-outside' } });
    assert.equal(loaded?.settings.sources[0]?.token, 'from-outside');
  });

  it('takes the environment in JSON by its name in braces', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what stands in a JSON file
    const cwd = folder({ 'sluice.config.json': json.replace('https://town.example', '${TOWN_URL}') });
    const loaded = await loadSettings({ cwd, env: { TOWN_URL: 'https://square.example' } });
    assert.equal(loaded?.settings.sources[0]?.host, 'square.example');
  });

  it('is refused with a clear word when it cannot be used', async () => {
    assert.equal(
      await problemIn({ 'sluice.config.ts': good, 'sluice.config.json': json }),
      'required one settings file in DIR, got sluice.config.ts, sluice.config.json',
    );
    assert.equal(await problemIn({}, { file: 'nope.json' }), 'nope.json: no such settings file');
    assert.equal(await problemIn({}, { env: { SLUICE_CONFIG: 'nope.ts' } }), 'nope.ts: no such settings file');
    assert.equal(await problemIn({ 'a.yaml': '' }, { file: 'a.yaml' }), 'a.yaml: required a .ts, .js or .json file');
    assert.equal(
      await problemIn({}, { file: '.' }).then((text) => text.replace(/^.*:/, '…:')),
      '…: required a .ts, .js or .json file',
    );
    assert.equal(
      await problemIn({ 'a.ts': 'export const settings = {};' }, { file: 'a.ts' }),
      'a.ts: required the settings as its default export, got the exports settings',
    );
    assert.equal(
      await problemIn({ 'b.ts': 'export {};' }, { file: 'b.ts' }),
      'b.ts: required the settings as its default export, got no exports',
    );
  });

  it('that is not JSON is told with its line, and none of its words', async () => {
    const text = '{\n "token": "hunter2" "more": 1\n}';
    assert.equal(await problemIn({ 'sluice.config.json': text }), 'sluice.config.json: not JSON, see line 2');
  });

  it('that does not load is told with its name, the line and the reason, and none of its lines', async () => {
    const syntax = await problemIn(
      { 'a.ts': 'export default {\n  a: 1,\n  token: "hunter2"\n  b: 2,\n};\n' },
      { file: 'a.ts' },
    );
    assert.match(syntax, /^a\.ts: SyntaxError at line [34]: /);
    assert.doesNotMatch(syntax, /hunter2|\n/);
    assert.equal(
      await problemIn({ 'b.ts': '\nthrow new TypeError("no town\\nand more");' }, { file: 'b.ts' }),
      'b.ts: TypeError at line 2: no town',
    );
    assert.match(
      await problemIn({ 'c.js': 'import "./missing.js";' }, { file: 'c.js' }),
      /^c\.js: Error: Cannot find module/,
    );
    assert.equal(
      await problemIn({ 'd.js': 'throw "text";' }, { file: 'd.js' }),
      'd.js: it threw something that is no Error',
    );
    assert.equal(
      await problemIn({ 'e.js': 'const error = new Error();\nerror.message = 5;\nthrow error;' }, { file: 'e.js' }),
      'e.js: Error at line 1: 5',
    );
  });

  it('that throws when it is read is told without its lines', async () => {
    const text = 'export default { sources: { get town() { throw new Error("hunter2"); } } };';
    assert.equal(await problemIn({ 'sluice.config.js': text }), 'sources: it threw when it was read');
  });

  it('that is a link to nowhere is not taken for none', async () => {
    const cwd = folder({});
    symlinkSync(join(cwd, 'nowhere.json'), join(cwd, 'sluice.config.json'));
    const missing = new ConfigError('sluice.config.json: cannot be read (ENOENT)');
    await assert.rejects(loadSettings({ cwd, env: {} }), missing);
  });
});
