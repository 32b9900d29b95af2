import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { folder, runSluice } from './run-sluice.ts';
import { LARGE, startSmallServer, TOKEN } from './small-server.ts';

let server: Awaited<ReturnType<typeof startSmallServer>>;
before(async () => {
  server = await startSmallServer();
});
after(() => server.close());

function withHome(token = TOKEN): string {
  const home = { kind: 'mastodon', url: server.url, timeline: { type: 'home' }, token, audience: ['ann'] };
  return folder({ 'sluice.config.json': JSON.stringify({ sources: { home } }) });
}

const read = (dir: string, name: string) => readFileSync(join(dir, name), 'utf8');

describe('sluice record', () => {
  it('saves what the source really answers, without tokens and cookies', async () => {
    const cwd = withHome();
    const { code, stdout, stderr } = await runSluice(['record', '--source', 'home', '--out', 'replies'], { cwd });
    assert.equal(stderr, '');
    assert.equal(code, 0);

    const out = join(cwd, 'replies');
    const names = readdirSync(out).sort();
    assert.equal(names[0], '001-api-v2-instance.json');
    const page = names.find((name) => name.endsWith('-api-v1-timelines-home.json')) ?? '';
    assert.match(stdout, new RegExp(`^saved .*/replies/${page}$`, 'm'));

    const { request, status, headers, body } = JSON.parse(read(out, page));
    assert.equal(request.method, 'GET');
    assert.match(request.path, /^\/api\/v1\/timelines\/home/);
    assert.equal(status, 200);
    assert.equal(headers['x-ratelimit-remaining'], '295');
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(body[0].id, '115000000000000001');
    for (const name of names) assert.ok(!read(out, name).includes(TOKEN), name);
    assert.ok(read(out, page).includes(`"large":${LARGE}`), 'long numbers stay as they are');
  });

  it('walks --pages pages at most, ends where the source does, and numbers on without overwriting', async () => {
    const cwd = withHome();
    const pagesOf = () => readdirSync(join(cwd, 'r')).filter((name) => name.includes('timelines-home'));
    assert.equal((await runSluice(['record', '--source', 'source:home', '--out', 'r'], { cwd })).code, 0);
    const first = readdirSync(join(cwd, 'r')).map((name) => [name, read(join(cwd, 'r'), name)] as const);
    assert.equal(pagesOf().length, 1);

    assert.equal((await runSluice(['record', '--source', 'home', '--out', 'r', '--pages', '9'], { cwd })).code, 0);
    assert.equal(pagesOf().length, 1 + 3, 'two pages with a post, and the empty one that ends the walk');
    assert.equal(new Set(readdirSync(join(cwd, 'r')).map((name) => name.slice(0, 3))).size, 2 * first.length + 2);
    for (const [name, text] of first) assert.equal(read(join(cwd, 'r'), name), text);
  });

  it('saves the reply that refuses it, too, and fails with the reason', async () => {
    const cwd = withHome('a-wrong-token');
    const { code, stderr } = await runSluice(['record', '--source', 'home', '--out', 'r'], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /^sluice: GET http:.* answered 401.*\n$/);
    const refused = readdirSync(join(cwd, 'r')).find((name) => name.includes('timelines-home')) ?? '';
    assert.equal(JSON.parse(read(join(cwd, 'r'), refused)).status, 401);
  });

  it('takes a folder by its whole path, and says when it is none', async () => {
    const cwd = withHome();
    const out = join(folder({}), 'replies');
    assert.equal((await runSluice(['record', '--source', 'home', '--out', out], { cwd })).code, 0);
    assert.equal(readdirSync(out)[0], '001-api-v2-instance.json');

    writeFileSync(join(cwd, 'file'), '');
    const { code, stderr } = await runSluice(['record', '--source', 'home', '--out', 'file'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /^sluice: --out: required a folder that can be written to, got .*file \(EEXIST\)\n$/);
  });

  it('names the sources that there are', async () => {
    const { code, stderr } = await runSluice(['record', '--source', 'town', '--out', 'r'], { cwd: withHome() });
    assert.equal(stderr, 'sluice: --source: required one of home, got town\n');
    assert.equal(code, 2);
  });
});
