import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { idScheme, recogniseIdScheme } from '../../src/ids/id-scheme.ts';
import { formatPostId, parsePostId } from '../../src/ids/post-id.ts';
import type { IdSchemeName } from '../../src/post.ts';

const FOLDER = new URL('../../../shared/recordings/', import.meta.url);

const SERVERS: readonly { folder: string; software: string; scheme: IdSchemeName; byShape: IdSchemeName }[] = [
  { folder: 'gotosocial', software: 'gotosocial 0.19.2', scheme: 'ulid', byShape: 'ulid' },
  { folder: 'hollo', software: 'hollo 0.10.0', scheme: 'uuidv7', byShape: 'uuidv7' },
  { folder: 'mastodon', software: 'mastodon 4.6.4', scheme: 'mastodon', byShape: 'opaque' },
  { folder: 'snac', software: 'snac 2.94', scheme: 'opaque', byShape: 'opaque' },
  { folder: 'twitter-v1', software: 'twitter', scheme: 'twitter', byShape: 'opaque' },
  { folder: 'twitter-v2', software: 'twitter', scheme: 'twitter', byShape: 'opaque' },
];

/** Ids of recorded servers, for a checkout without the recordings. */
const QUOTED: readonly { software: string; id: string; scheme: IdSchemeName; timeMs: number | undefined }[] = [
  {
    software: 'gotosocial 0.19.2',
    id: '01M7XD42BHGR2SX1DZJ9EEQZ3E',
    scheme: 'ulid',
    timeMs: Date.UTC(2026, 10, 20, 21, 17, 11, 409),
  },
  {
    software: 'hollo 0.10.0',
    id: '01a1fabd-c128-7e38-9c3b-58469c0cfd7e',
    scheme: 'uuidv7',
    timeMs: Date.UTC(2026, 10, 20, 20, 55, 2, 184),
  },
  { software: 'snac 2.94', id: '17952081090ab75df2ee00386c1afcbfe91386d5bd', scheme: 'opaque', timeMs: undefined },
];

for (const { software, id, scheme, timeMs } of QUOTED) {
  test(`an id of ${software} is ${scheme}`, () => {
    assert.equal(recogniseIdScheme({ software, ids: [id] }), scheme);
    assert.equal(idScheme(scheme).timeMs(id), timeMs);
  });
}

for (const { folder, software, scheme, byShape } of SERVERS) {
  test(`the recorded ids of ${folder} are ${scheme}`, (t) => {
    if (!existsSync(new URL(`${folder}/`, FOLDER))) {
      t.diagnostic(`no recordings of ${folder} beside this checkout: its ids were not compared`);
      return;
    }
    const posts = readPosts(new URL(`${folder}/`, FOLDER));
    const ids = [...posts.keys()];
    assert.ok(ids.length > 20, `${ids.length} ids`);
    assert.equal(recogniseIdScheme({ software, ids }), scheme);
    assert.equal(recogniseIdScheme({ ids }), byShape);
    for (const id of ids) assert.equal(parsePostId(formatPostId(id, 'localhost:8803'))?.upstreamId, id);
    assert.equal(new Set(ids.map((id) => idScheme(scheme).orderKey(id))).size, ids.length);
  });
}

// Of posts that were written on the server itself, within what it takes to save one.
for (const { folder, scheme, withinMs } of [
  { folder: 'twitter-v1', scheme: 'twitter', withinMs: 1000 },
  { folder: 'gotosocial', scheme: 'ulid', withinMs: 100 },
  { folder: 'hollo', scheme: 'uuidv7', withinMs: 1000 },
] as const) {
  test(`the time in the recorded ids of ${folder} is the time they were posted`, (t) => {
    if (!existsSync(new URL(`${folder}/`, FOLDER))) {
      t.diagnostic(`no recordings of ${folder} beside this checkout: times were not compared`);
      return;
    }
    for (const [id, createdAt] of readPosts(new URL(`${folder}/`, FOLDER))) {
      const awayMs = Math.abs((idScheme(scheme).timeMs(id) ?? 0) - Date.parse(createdAt ?? ''));
      assert.ok(awayMs < withinMs, `${id} is ${awayMs} ms from ${createdAt}`);
    }
  });
}

/** The ids and `created_at` of all posts in a folder's replies. */
function readPosts(folder: URL): ReadonlyMap<string, string | undefined> {
  const posts = new Map<string, string | undefined>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    // An array's items are its fields.
    const fields = value as Readonly<Record<string, unknown>>;
    const id = fields.id_str ?? fields.id;
    if (typeof id === 'string' && ['content', 'text', 'full_text'].some((name) => name in fields)) {
      posts.set(id, typeof fields.created_at === 'string' ? fields.created_at : undefined);
    }
    Object.values(fields).forEach(visit);
  };
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const { body } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { body: unknown };
    visit(body);
  }
  return posts;
}
