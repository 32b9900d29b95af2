import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkSettings, defineConfig, env, settingsWarnings } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';

const town = { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'public' } };
const home = { ...town, timeline: { type: 'home' }, token: 'home-token', audience: ['ann'] };
const bird = { kind: 'twitter', api: '2', timeline: { type: 'user', userId: '12' }, token: 'bird-token' };
const old = { ...bird, api: '1.1' };
const key = 'k'.repeat(32);
const webhook = { kind: 'http', url: 'https://rank.example' };

function problemOf(raw: unknown, environment: Record<string, string> = {}): string {
  try {
    checkSettings(raw, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no problem';
}

describe('the settings', () => {
  it('need one source, and fill in everything else', () => {
    assert.deepEqual(checkSettings({ sources: { town } }, {}), {
      sources: [
        {
          key: 'town',
          kind: 'mastodon',
          url: 'https://town.example',
          host: 'town.example',
          timeline: { type: 'public' },
          token: undefined,
          audience: 'anyone',
          minIntervalMs: 5000,
          ownInterval: false,
          ownOverlap: false,
          overlapMs: 60_000,
          overlap: 'latest',
          pollWhen: 'always',
          maxPostsPerDay: undefined,
          deadlineMs: 10_000,
          idScheme: undefined,
        },
      ],
      store: 'sqlite:sluice.db',
      server: { port: 4000, host: '127.0.0.1', hosts: [], cors: 'loopback', graphiql: true },
      auth: { kind: 'none', userId: 'demo' },
      tokens: { keys: [] },
      forYou: {
        size: 500,
        instanceTtlSeconds: 3600,
        currentTtlSeconds: 600,
        whenGone: 'continue',
        recommender: { kind: 'local' },
      },
      timeline: { keepHours: 168, keepEntries: 100_000, keepMegabytes: 1024 },
      polling: { minIntervalMs: 5000, idleIntervalMs: 60_000, sweepIntervalMs: 300_000, maxWaitMs: 1500 },
      ids: { enabled: false },
      operator: {},
    });
  });

  it('give Twitter its own URL, host, pace and overlap', () => {
    const { api: _, ...withoutApi } = bird;
    const [v2, v1] = checkSettings({ sources: { bird: withoutApi, old } }, {}).sources;
    assert.deepEqual(v2?.kind === 'twitter' && v2.api, '2');
    assert.equal(v2?.host, 'x.com');
    assert.equal(v1?.host, 'x.com');
    assert.match(v2?.url ?? '', /^https:\/\/api\.twitter\.com$/);
    assert.equal(v2?.minIntervalMs, 60_000);
    assert.equal(v2?.overlapMs, 10_000);
  });

  it("take a source's own interval before the common one, and remember whose it is", () => {
    const sources = { town: { ...town, minIntervalMs: 100 }, square: { ...town, url: 'https://square.example' }, bird };
    const checked = checkSettings({ sources, polling: { minIntervalMs: 7000 } }, {}).sources;
    assert.deepEqual(
      checked.map(({ minIntervalMs, ownInterval }) => [minIntervalMs, ownInterval]),
      [
        [100, true],
        [7000, false],
        [60_000, false],
      ],
    );
  });

  it('name a host by its URL, with the port that is not the scheme’s own', () => {
    const hosts = [
      'https://town.example:8443/',
      'https://town.example:443',
      'http://127.0.0.1:9200',
      'http://[::1]:80/a/',
    ];
    const sources = Object.fromEntries(hosts.map((url, i) => [`s${i}`, { ...town, url }]));
    const checked = checkSettings({ sources }, {}).sources;
    assert.deepEqual(
      checked.map(({ host }) => host),
      ['town.example:8443', 'town.example', '127.0.0.1:9200', '[::1]'],
    );
    assert.deepEqual(
      checked.map(({ url }) => url),
      ['https://town.example:8443', 'https://town.example', 'http://127.0.0.1:9200', 'http://[::1]/a'],
    );
  });

  it('admit loopback pages by default only where everybody is one viewer', () => {
    const header = { kind: 'header', name: 'X-User-Id', trustedPeers: ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'] };
    assert.equal(checkSettings({ sources: { town } }, {}).server.cors, 'loopback');
    assert.deepEqual(checkSettings({ sources: { town }, server: { cors: [] } }, {}).server.cors, []);
    const withHeader = checkSettings({ sources: { town }, auth: header }, {});
    assert.deepEqual(withHeader.server.cors, []);
    assert.deepEqual(withHeader.auth, { ...header, name: 'x-user-id' });
  });

  it('take a key as the bytes of its UTF-8', () => {
    const { keys } = checkSettings({ sources: { town }, tokens: { keys: [key] } }, {}).tokens;
    assert.deepEqual(keys, [Buffer.from(key, 'utf8')]);
  });

  it('let PORT and HOST win over the file', () => {
    const raw = { sources: { town }, server: { port: 1, host: 'localhost' } };
    const { port, host } = checkSettings(raw, { PORT: '0', HOST: '::' }).server;
    assert.deepEqual([port, host], [0, '::']);
  });

  it('are typed for editors as they are checked', () => {
    const config = defineConfig({
      sources: { bird: { kind: 'twitter', api: '2', timeline: { type: 'search', query: 'cats' }, token: env('T') } },
    });
    assert.equal(checkSettings(config, { T: 'from-outside' }).sources[0]?.token, 'from-outside');
  });
});

const STORE_FORM =
  "'sqlite:FILE', 'sqlite::memory:', 'redis://HOST:PORT', 'rediss://…', { kind: 'redis' | 'sentinel' | 'cluster', … } or { feeds, timelines }";

describe('the first problem', () => {
  const source = (extra: object, base: object = town) => ({ sources: { home: { ...base, ...extra } } });
  const beside = (extra: object) => ({ sources: { town }, ...extra });
  const cases: readonly (readonly [string, unknown])[] = [
    ['settings: required an object, got null', null],
    ['settings: required an object, got a function', () => ({})],
    ['settings: required an object, got a list of 0', []],
    ['sources: required an object, got nothing', {}],
    ['sources: required at least one source, got an object', { sources: {} }],
    [
      'sources.9bad: required a letter, then at most 63 letters, digits, - or _, as a key',
      { sources: { '9bad': town } },
    ],
    ['sources.__proto__: unknown key', JSON.parse('{"sources":{"__proto__":{}}}')],
    [
      'server.prot: unknown key, known here: port, host, hosts, cors, graphiql',
      beside({ server: { prot: 80, host: 'also wrong!' } }),
    ],
    [
      'sources.home.tokn: unknown key, known here: kind, url, timeline, idScheme, token, host, audience, minIntervalMs, overlapMs, overlap, pollWhen, maxPostsPerDay, deadlineMs, allowInsecure',
      source({ tokn: 'x' }),
    ],
    ["sources.home.kind: required 'mastodon' or 'twitter', got \"twiter\"", source({ kind: 'twiter' })],
    [
      'sources.home.url: required an http(s) URL without credentials, query or fragment, got "town.example"',
      source({ url: 'town.example' }),
    ],
    [
      'sources.home.url: required an http(s) URL without credentials, query or fragment, got "https://a.io/…"',
      source({ url: 'https://ann:hunter2@a.io/' }),
    ],
    [
      'sources.home.url: required an http(s) URL without credentials, query or fragment, got "https://a.io/…"',
      source({ url: 'https://a.io/?access_token=hunter2' }),
    ],
    [
      'sources.home.url: required https: (http: is for loopback alone, or needs allowInsecure: true), got "http://town.example"',
      source({ url: 'http://town.example' }),
    ],
    [
      "sources.home.timeline.type: required 'home', 'public', 'tag', 'list' or 'account', got \"user\"",
      source({ timeline: { type: 'user' } }),
    ],
    [
      "sources.home.timeline.only: required 'local' or 'remote', got \"both\"",
      source({ timeline: { type: 'public', only: 'both' } }),
    ],
    [
      'sources.home.timeline.tag: required a tag without #, got "#cats"',
      source({ timeline: { type: 'tag', tag: '#cats' } }),
    ],
    [
      'sources.home.timeline.id: required an account id of 1 to 256 characters, got nothing',
      source({ timeline: { type: 'account' } }),
    ],
    [
      'sources.home.timeline.id: required an account id of 1 to 256 characters, got ".."',
      source({ timeline: { type: 'account', id: '..' } }),
    ],
    [
      'sources.home.timeline.userId: required a user id in digits, got "ann"',
      source({ timeline: { type: 'home', userId: 'ann' } }, bird),
    ],
    [
      "sources.home.timeline.type: required 'home', 'user', 'list' or 'mentions' with api '1.1', got \"search\"",
      source({ timeline: { type: 'search', query: 'x' } }, old),
    ],
    ["sources.home.api: required '2' or '1.1', got 2", source({ api: 2 }, bird)],
    ['sources.home.token: required a token for a home timeline, got nothing', source({ token: undefined }, home)],
    ['sources.home.token: required a token for Twitter, got nothing', source({ token: undefined }, bird)],
    [
      'sources.home.token: required a token of 1 to 4096 visible ASCII characters, got a secret of 12 characters',
      source({ token: 'hunter2 and ' }),
    ],
    [
      'sources.home.token: required a token of 1 to 4096 visible ASCII characters, got [secret]',
      source({ token: 12345 }),
    ],
    [
      "sources.home.audience: required for a home timeline: 'anyone', 'signed-in' or a list of user ids, got nothing",
      source({ audience: undefined }, home),
    ],
    ...['everybody', [], ['ann', 'ann'], 7].map((audience, i): [string, unknown] => [
      `sources.home.audience: required 'anyone', 'signed-in' or a list of 1 to 10000 different user ids, got ${['"everybody"', 'a list of 0', 'a list of 2', '7'][i]}`,
      source({ audience }),
    ]),
    [
      'sources.home.host: required a host name in lower case, with or without a port, got "Town.example"',
      source({ host: 'Town.example' }),
    ],
    ['sources.home.minIntervalMs: required a whole number 10 to 86400000, got "5"', source({ minIntervalMs: '5' })],
    ['sources.home.maxPostsPerDay: required a whole number 1 to 1000000000, got 0', source({ maxPostsPerDay: 0 })],
    ['sources.home.overlapMs: required a whole number 1000 to 86400000, got 999', source({ overlapMs: 999 })],
    ["sources.home.overlap: required 'latest' or 'retrieved-at', got \"newest\"", source({ overlap: 'newest' })],
    ["sources.home.pollWhen: required 'always' or 'asked', got true", source({ pollWhen: true })],
    ['sources.home.deadlineMs: required a whole number 100 to 120000, got 1.5', source({ deadlineMs: 1.5 })],
    ['sources.home.allowInsecure: required true or false, got "yes"', source({ allowInsecure: 'yes' })],
    [`store: required ${STORE_FORM}, got "sqlite:"`, beside({ store: 'sqlite:' })],
    [`store: required ${STORE_FORM}, got "postgres://r/…"`, beside({ store: 'postgres://ann:hunter2@r/x y' })],
    [
      "store: required 'redis://[USER:PASSWORD@]HOST[:PORT][/DB]', or 'rediss://…' for TLS, without a query, got \"rediss://r/…\"",
      beside({ store: 'rediss://ann:hunter2@r?db=3' }),
    ],
    ["store.kind: required 'redis', 'sentinel' or 'cluster', got \"mongo\"", beside({ store: { kind: 'mongo' } })],
    ['store.nodes: required a list of { host, port }, got nothing', beside({ store: { kind: 'cluster' } })],
    [
      'store.nodes: required at least one { host, port }, got a list of 0',
      beside({ store: { kind: 'cluster', nodes: [] } }),
    ],
    [
      'store.nodes.0.port: required a whole number 1 to 65535, got 0',
      beside({ store: { kind: 'cluster', nodes: [{ host: 'r', port: 0 }] } }),
    ],
    [
      'store.pasword: unknown key, known here: kind, name, sentinels, sentinelUsername, sentinelPassword, db, username, password, tls, keyPrefix',
      beside({ store: { kind: 'sentinel', name: 'main', sentinels: [{ host: 'r', port: 1 }], pasword: 'hunter2' } }),
    ],
    [
      'store.password: required a password of 1 to 1024 characters, got a secret of 0 characters',
      beside({ store: { kind: 'cluster', nodes: [{ host: 'r', port: 1 }], password: '' } }),
    ],
    [
      "store.keyPrefix: required 1 to 64 letters, digits, '_', '.', ':' or '-', got \"{a}\"",
      beside({ store: { kind: 'redis', url: 'redis://r', keyPrefix: '{a}' } }),
    ],
    ['server.port: required a whole number 0 to 65535, got "80o0"', beside({ server: { port: '80o0' } })],
    ['server.port: required a whole number 0 to 65535, got 65536', beside({ server: { port: 65536 } })],
    ['server.host: required a host name or an IP address, got "a b"', beside({ server: { host: 'a b' } })],
    [
      "server.cors.0: '*' is refused, for any web page could then read what the viewer may see: name the origins, such as https://app.example",
      beside({ server: { cors: ['*'] } }),
    ],
    [
      'server.cors.1: required an origin such as https://app.example, without a path, got "https://a.io/…"',
      beside({ server: { cors: ['https://app.example', 'https://a.io/'] } }),
    ],
    ['server.cors: required a list, got "https://app.example"', beside({ server: { cors: 'https://app.example' } })],
    [
      "auth.kind: jwt comes with a later release; this one has 'none' and 'header'",
      beside({ auth: { kind: 'jwt', secret: 'x' } }),
    ],
    ["auth.kind: required 'none' or 'header', got \"basic\"", beside({ auth: { kind: 'basic' } })],
    [
      'auth.userId: required a user id of 1 to 256 characters, got an empty text',
      beside({ auth: { kind: 'none', userId: '' } }),
    ],
    [
      'auth.name: required a header name, got "x user"',
      beside({ auth: { kind: 'header', name: 'x user', trustedPeers: ['::1'] } }),
    ],
    ['auth.trustedPeers: required a list, got nothing', beside({ auth: { kind: 'header', name: 'x' } })],
    [
      'auth.trustedPeers: required at least one IP address or CIDR range, got a list of 0',
      beside({ auth: { kind: 'header', name: 'x', trustedPeers: [] } }),
    ],
    [
      'auth.trustedPeers.0: required an IP address or a CIDR range such as 10.0.0.0/8, got "10.0.0.0/33"',
      beside({ auth: { kind: 'header', name: 'x', trustedPeers: ['10.0.0.0/33'] } }),
    ],
    [
      'auth.trustedPeers.0: required an IP address or a CIDR range such as 10.0.0.0/8, got "::ffff:10.0.0.0/104"',
      beside({ auth: { kind: 'header', name: 'x', trustedPeers: ['::ffff:10.0.0.0/104'] } }),
    ],
    [
      'tokens.keys.0: required a key of 32 to 1024 characters, such as openssl rand -base64 32 gives, got a secret of 31 characters',
      beside({ tokens: { keys: ['k'.repeat(31)] } }),
    ],
    ['tokens.keys: required different keys, got [secret]', beside({ tokens: { keys: [key, key] } })],
    ['forYou.size: required a whole number 1 to 2000, got 2001', beside({ forYou: { size: 2001 } })],
    [
      'forYou.currentTtlSeconds: required at most instanceTtlSeconds (60), got 61',
      beside({ forYou: { instanceTtlSeconds: 60, currentTtlSeconds: 61 } }),
    ],
    ["forYou.whenGone: required 'continue' or 'empty', got \"stop\"", beside({ forYou: { whenGone: 'stop' } })],
    ["forYou.recommender.kind: required 'local' or 'http', got nothing", beside({ forYou: { recommender: {} } })],
    [
      'forYou.recommender.headers.authorization: required a header value of at most 8192 characters on one line, got a secret of 9 characters',
      beside({ forYou: { recommender: { ...webhook, headers: { authorization: 'hunter2\r\n' } } } }),
    ],
    [
      'forYou.recommender.headers.[a key of 3 characters]: required a header name as a key',
      beside({ forYou: { recommender: { ...webhook, headers: { 'a b': 'x' } } } }),
    ],
    ['timeline.keepHours: required a whole number 1 to 87600, got 0', beside({ timeline: { keepHours: 0 } })],
    ['polling.maxWaitMs: required a whole number 0 to 4000, got -1', beside({ polling: { maxWaitMs: -1 } })],
  ];
  for (const [message, raw] of cases) it(`is told as "${message}"`, () => assert.equal(problemOf(raw), message));

  it('is told for a variable that is not set, is empty, or stands inside a text', () => {
    const withToken = (token: string) => ({ sources: { home: { ...home, token } } });
    assert.equal(problemOf(withToken(env('TOWN_TOKEN'))), 'sources.home.token: TOWN_TOKEN is not set');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what stands in a JSON file
    assert.equal(problemOf(withToken('${TOWN_TOKEN}'), { TOWN_TOKEN: '' }), 'sources.home.token: TOWN_TOKEN is empty');
    assert.equal(
      problemOf(withToken(`Bearer ${env('TOWN_TOKEN')}`), { TOWN_TOKEN: 'x' }),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
      'sources.home.token: required ${NAME} as the whole text, with the name of a variable',
    );
  });

  it('does not show what came from the environment', () => {
    const raw = { sources: { home: { ...town, url: env('TOWN_URL') } } };
    assert.equal(
      problemOf(raw, { TOWN_URL: 'hunter2' }),
      'sources.home.url: required an http(s) URL without credentials, query or fragment, got the 7 characters of TOWN_URL',
    );
  });

  it('is told for PORT and HOST, which forgive nothing', () => {
    const port = (value: string) => problemOf({ sources: { town } }, { PORT: value });
    for (const value of ['80o0', '', ' 80', '+80', '0x50', '1e3', '080', '65536', '-1', '8080.0']) {
      assert.match(port(value), /^PORT: required a whole number 0 to 65535, got /, JSON.stringify(value));
    }
    assert.equal(port('65535'), 'no problem');
    assert.equal(
      problemOf({ sources: { town } }, { HOST: 'a b' }),
      'HOST: required a host name or an IP address, got "a b"',
    );
  });

  it('counts the sources: 10,000 will do, one more will not', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, town]));
    assert.equal(problemOf({ sources: many(10_000) }), 'no problem');
    assert.equal(problemOf({ sources: many(10_001) }), 'sources: required at most 10000 sources, got an object');
  });
});

const full = {
  sources: { town, home, bird, old },
  store: 'sqlite::memory:',
  server: { port: 4000, host: '127.0.0.1', cors: ['https://app.example'], graphiql: false },
  auth: { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1'] },
  tokens: { keys: [key] },
  forYou: { size: 500, recommender: { ...webhook, headers: { authorization: 'x' } } },
  timeline: { keepHours: 168 },
  polling: { maxWaitMs: 0 },
};

/** Every path in `full`, and one behind each object that it does not have. */
function pathsOf(value: unknown): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const inside = Object.entries(value).flatMap(([name, item]) => pathsOf(item).map((path) => [name, ...path]));
  return [[], ['extra'], ...inside];
}

function withValue(value: unknown, [first, ...rest]: readonly string[], put: unknown): unknown {
  if (first === undefined) return put;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  return Object.assign(copy, { [first]: withValue((value as Record<string, unknown>)[first], rest, put) });
}

describe('any settings at all', () => {
  it('give settings or a ConfigError on one line, never anything else', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      maxDepth: 4,
    });
    const somewhere = fc
      .tuple(fc.constantFrom(...pathsOf(full)), anything)
      .map(([path, value]) => withValue(full, path, value));
    fc.assert(
      fc.property(fc.oneof(anything, somewhere), fc.dictionary(fc.string(), fc.string()), (raw, environment) => {
        assert.doesNotMatch(problemOf(raw, environment), /\n|undefined|\[object|Invalid/);
      }),
      { numRuns: 1000 },
    );
  });

  it('never show a token, wherever it was put', () => {
    const token = fc.string({ unit: fc.constantFrom(...'abcXYZ0189-_.~+/='), minLength: 25, maxLength: 200 });
    const disguise = fc.constantFrom(
      (secret: string) => secret,
      (secret: string) => `Bearer ${secret}`,
      (secret: string) => `https://ann:${secret}@town.example`,
      (secret: string) => `https://town.example/${secret}`,
      (secret: string) => `https://town.example/?access_token=${secret}`,
      (secret: string) => `redis://:${secret}@redis.example`,
      (secret: string) => ({ [secret]: secret }),
      (secret: string) => [secret],
    );
    fc.assert(
      fc.property(token, disguise, fc.constantFrom(...pathsOf(full)), fc.boolean(), (secret, dress, path, outside) => {
        const [raw, environment] = outside
          ? [withValue(full, path, env('SECRET')), { SECRET: String(dress(secret)) }]
          : [withValue(full, path, dress(secret)), {}];
        assert.ok(!problemOf(raw, environment).includes(secret));
      }),
      { numRuns: 1000 },
    );
  });

  it('that hold themselves are refused like others', () => {
    const raw: Record<string, unknown> = { sources: { town } };
    raw.server = raw;
    assert.match(problemOf(raw), /^server\.sources: unknown key/);
  });
});

describe('the warnings', () => {
  const warningsOf = (raw: unknown) => settingsWarnings(checkSettings(raw, {}));

  it('are none for a gateway that keeps to itself', () => {
    assert.deepEqual(warningsOf({ sources: { town, local: { ...home, url: 'http://localhost:3000' } } }), []);
  });

  it('name what is open, believed from everywhere, or sent unencrypted', () => {
    const insecure = { ...home, url: 'http://town.example', allowInsecure: true };
    assert.deepEqual(warningsOf({ sources: { insecure }, server: { host: '0.0.0.0' } }), [
      'auth: everybody who reaches 0.0.0.0:4000 is the viewer "demo"',
      'sources.insecure.url: the token and what it shows are sent unencrypted',
    ]);
    const recommender = { ...webhook, url: 'http://rank.example' };
    const auth = { kind: 'header', name: 'x-user-id', trustedPeers: ['0.0.0.0/0'] };
    assert.deepEqual(warningsOf({ sources: { town }, server: { host: '::' }, auth, forYou: { recommender } }), [
      'auth.trustedPeers: the header x-user-id is believed from everywhere',
      'forYou.recommender.url: who reads what goes there unencrypted',
    ]);
  });
});
