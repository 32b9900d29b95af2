import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSettings } from '../src/config.ts';
import { ConfigError, UpstreamError } from '../src/errors.ts';
import { resolveHomeLogs } from '../src/home-logs.ts';
import type { Source } from '../src/source.ts';
import { buildSources } from '../src/sources.ts';
import type { Note, NoteStore } from '../src/stores/note-store.ts';
import type { HttpClient } from '../src/upstreams/http.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** In memory; `onWrite` sees each write before it happens. */
function createNotes(onWrite: (name: string) => void = () => {}): NoteStore & { readonly all: Map<string, Note> } {
  const all = new Map<string, Note>();
  return {
    all,
    async read(names) {
      return new Map([...all].filter(([name]) => names.includes(name)));
    },
    async write({ name, body, expectedVersion }) {
      onWrite(name);
      const version = all.get(name)?.version ?? 0;
      if (expectedVersion !== undefined && expectedVersion !== version) return undefined;
      all.set(name, { version: version + 1, body });
      return version + 1;
    },
    async remove(names) {
      for (const name of names) all.delete(name);
    },
  };
}

/** What a server answers when it is asked whose a token is: an account's id, a status, or nothing at all. */
type Whose = Readonly<Record<string, string | number | 'nothing'>>;

const clock = createVirtualClock();
const home = { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'home' }, audience: ['ann'] };

/** A gateway's start over a store: `sources` are settings, `whose` what the servers say by token. */
async function start(sources: object, { notes = createNotes(), whose }: { notes?: NoteStore; whose: Whose }) {
  const asked: string[] = [];
  const state = { whose };
  const http: HttpClient = {
    async get({ url, token = '', signal }) {
      asked.push(token);
      const answer = url.pathname === '/api/v1/accounts/verify_credentials' ? state.whose[token] : 404;
      if (answer === 'nothing') {
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        throw new UpstreamError('UNAVAILABLE', `GET ${url.origin}${url.pathname} was broken off`);
      }
      const status = typeof answer === 'number' ? answer : 200;
      return { status, headers: {}, bodyText: JSON.stringify({ id: answer }), sentAtMs: 0 };
    },
    async close() {},
  };
  const settings = checkSettings({ sources }, {});
  const lines: string[] = [];
  const built = buildSources(settings, { http, clock });
  const resolved = await resolveHomeLogs(built, { notes, clock, log: (line) => lines.push(line) });
  const logIds = resolved.map(({ logId }) => logId);
  return { sources: resolved, logIds, logId: logIds[0] ?? '', first: resolved[0], asked, state, lines };
}

const refused = { code: 'FORBIDDEN' };
const confirm = (source: Source | undefined) => source?.confirmAccount?.() ?? assert.fail('nothing is to be confirmed');

describe('the log of a home timeline', () => {
  it('goes on with a new token of the same account, from the log that was before accounts were asked for', async () => {
    const notes = createNotes();
    const settings = { home: { ...home, token: 'first' } };
    const [before] = buildSources(checkSettings({ sources: settings }, {}), { http: {} as HttpClient, clock });
    const whose = { first: '7', second: '7', third: '7' };
    const first = await start(settings, { notes, whose });
    assert.equal(first.logId, before?.logId);
    const second = await start({ home: { ...home, token: 'second' } }, { notes, whose });
    const renamed = await start({ town: { ...home, token: 'third' } }, { notes, whose });
    assert.deepEqual([second.logId, renamed.logId], [first.logId, first.logId]);
    assert.equal(second.first?.confirmAccount, undefined);
  });

  it('is another one for another account, whatever the key', async () => {
    const notes = createNotes();
    const whose = { first: '7', second: '8', third: '7' };
    const first = await start({ home: { ...home, token: 'first' } }, { notes, whose });
    const second = await start({ home: { ...home, token: 'second' } }, { notes, whose });
    assert.notEqual(second.logId, first.logId);
    const back = await start({ home: { ...home, token: 'third' } }, { notes, whose });
    assert.equal(back.logId, first.logId);
  });

  it('is one for two tokens of an account, which must have the same audience', async () => {
    const whose = { first: '7', second: '7' };
    const two = (audience: readonly string[]) =>
      start({ a: { ...home, token: 'first' }, b: { ...home, token: 'second', audience } }, { whose });
    const { logIds } = await two(['ann']);
    assert.equal(logIds[0], logIds[1]);
    const message = 'sources.a and sources.b are one timeline: required the same audience for both';
    await assert.rejects(two(['bob']), new ConfigError(message));
  });

  it('is the one that another gateway gave the account first', async () => {
    const notes = createNotes((name) => {
      if (name.startsWith('log:') && !notes.all.has(name)) notes.all.set(name, { version: 1, body: 'theirs' });
    });
    const { logId } = await start({ home: { ...home, token: 'first' } }, { notes, whose: { first: '7' } });
    assert.equal(logId, 'theirs');
  });

  it('is asked for once a token, in the store no token stands', async () => {
    const notes = createNotes();
    const settings = { a: { ...home, token: 'first' }, b: { ...home, token: 'first' } };
    assert.deepEqual((await start(settings, { notes, whose: { first: '7' } })).asked, ['first']);
    assert.deepEqual((await start(settings, { notes, whose: { first: '7' } })).asked, []);
    assert.doesNotMatch(JSON.stringify([...notes.all]), /first|ann/);
  });

  it('goes on by its key where the server refuses to tell, but not for other people', async () => {
    const notes = createNotes();
    const whose = { first: 403, second: 401, third: 422, fourth: 404 };
    const first = await start({ home: { ...home, token: 'first' } }, { notes, whose });
    const second = await start({ home: { ...home, token: 'second' } }, { notes, whose });
    assert.equal(second.logId, first.logId);
    assert.equal(second.first?.confirmAccount, undefined);
    const bob = await start({ home: { ...home, token: 'third', audience: ['bob'] } }, { notes, whose });
    assert.notEqual(bob.logId, first.logId);
    const other = await start({ other: { ...home, token: 'fourth' } }, { notes, whose });
    assert.notEqual(other.logId, first.logId);
  });

  it('is not that which its key was refused because of its audience', async () => {
    const notes = createNotes();
    const whose = { first: '7', second: '7', third: 403 };
    const ann = { a: { ...home, token: 'first' } };
    const bob = (token: string) => ({ b: { ...home, token, audience: ['bob'] } });
    await assert.rejects(start({ ...ann, ...bob('second') }, { notes, whose }), ConfigError);
    const { logId } = await start(ann, { notes, whose });
    assert.notEqual((await start(bob('third'), { notes, whose })).logId, logId);
  });

  it('may be read by other people where the token is the same', async () => {
    const notes = createNotes();
    const whose = { first: 403 };
    const ann = await start({ home: { ...home, token: 'first' } }, { notes, whose });
    const bob = await start({ home: { ...home, token: 'first', audience: ['bob'] } }, { notes, whose });
    assert.equal(bob.logId, ann.logId);
  });
});

describe('while a server does not answer, the log of a home timeline', () => {
  const settings = (token: string) => ({ home: { ...home, token } });

  it('is the one that its key used last, once the account is confirmed', async () => {
    const notes = createNotes();
    const first = await start(settings('first'), { notes, whose: { first: '7' } });
    const second = await start(settings('second'), { notes, whose: { second: 503 } });
    assert.equal(second.logId, first.logId);
    assert.match(second.lines[0] ?? '', /^home: whose token it is will be asked again: GET https:\/\/town\.example\//);
    await assert.rejects(confirm(second.first), { code: 'UNAVAILABLE' });
    second.state.whose = { second: '7' };
    await confirm(second.first);
    const third = await start(settings('second'), { notes, whose: {} });
    assert.deepEqual([third.logId, third.asked], [first.logId, []]);
  });

  it('gets nothing of another account: the source says so until the next start', async () => {
    const notes = createNotes();
    const first = await start(settings('first'), { notes, whose: { first: '7' } });
    const second = await start(settings('second'), { notes, whose: { second: 503 } });
    second.state.whose = { second: '8' };
    await assert.rejects(confirm(second.first), refused);
    await assert.rejects(confirm(second.first), refused);
    assert.equal(second.asked.length, 2, 'at the start, and once after');
    const third = await start(settings('second'), { notes, whose: { second: '8' } });
    assert.notEqual(third.logId, first.logId);
    const back = await start(settings('third'), { notes, whose: { third: '7' } });
    assert.equal(back.logId, first.logId);
  });

  it('gets nothing of an account while nobody knows whose it was', async () => {
    const notes = createNotes();
    const first = await start(settings('first'), { notes, whose: { first: 503 } });
    const second = await start(settings('second'), { notes, whose: { second: 503 } });
    assert.equal(second.logId, first.logId);
    second.state.whose = { second: '7' };
    await assert.rejects(confirm(second.first), refused);
  });

  it('goes on by its key where the server then refuses to tell', async () => {
    const notes = createNotes();
    await start(settings('first'), { notes, whose: { first: '7' } });
    const second = await start(settings('second'), { notes, whose: { second: 503 } });
    second.state.whose = { second: 403 };
    await confirm(second.first);
  });

  it('is not held up where it began with this token, and belongs to its account from then on', async () => {
    const notes = createNotes();
    const first = await start(settings('first'), { notes, whose: { first: 503 } });
    await confirm(first.first);
    first.state.whose = { first: '7' };
    await confirm(first.first);
    const second = await start(settings('second'), { notes, whose: { second: '7' } });
    assert.equal(second.logId, first.logId);
  });

  it('is not waited for beyond five seconds, however many servers are silent', async () => {
    const sources = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`h${n}`, { ...home, url: `https://h${n}.example`, token: `t${n}` }]),
    );
    const whose = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, 'nothing']));
    let isUp = false;
    const starting = start(sources, { whose }).then((started) => {
      isUp = true;
      return started;
    });
    await clock.advance(4_999);
    assert.equal(isUp, false);
    await clock.advance(1);
    assert.ok((await starting).sources.every((source) => source.confirmAccount));
  });
});

describe('sources that are no home timeline', () => {
  it('stay as they are, and nobody is asked about them', async () => {
    const sources = {
      zoo: { ...home, timeline: { type: 'public' }, token: 'first', audience: 'anyone' },
      home: { ...home, token: 'second' },
      bird: { kind: 'twitter', timeline: { type: 'home', userId: '12' }, token: 'third', audience: ['ann'] },
    };
    const started = await start(sources, { whose: { second: '7' } });
    assert.deepEqual(
      started.sources.map(({ key }) => key),
      ['zoo', 'home', 'bird'],
    );
    assert.deepEqual([started.logIds[0], started.logIds[2]], ['mastodon:town.example:public', 'twitter:x.com:home:12']);
    assert.deepEqual(started.asked, ['second']);
  });
});
