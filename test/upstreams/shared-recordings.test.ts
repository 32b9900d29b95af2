import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { UpstreamSpec } from '../../src/upstreams/spec.ts';
import { createFixedHttp, type Recording, readRecordings, recordings, replyOf, testClock } from './replay-http.ts';

/** Recordings of more servers than may be copied: read in place, where they are there. */
const SHARED = new URL('../../../shared/recordings/', import.meta.url);
const isThere = existsSync(SHARED);

const FOLDERS = ['gotosocial', 'hollo', 'snac', 'mastodon', 'twitter-v1', 'twitter-v2'] as const;
const HAND_WRITTEN = ['mastodon', 'twitter-v1', 'twitter-v2'] as const;
type Folder = (typeof FOLDERS)[number];

test('recordings that may not be copied are read in place, where they are there', (t) => {
  t.diagnostic(isThere ? 'reading ../shared/recordings' : '../shared/recordings is not there: its tests are left out');
});

function specOf(folder: Folder): UpstreamSpec {
  const common = { url: 'https://some.example', host: 'some.example', keepPrivate: true } as const;
  if (folder === 'twitter-v1') return { ...common, kind: 'twitter', api: '1.1', timeline: { type: 'list', id: '1' } };
  if (folder === 'twitter-v2') return { ...common, kind: 'twitter', api: '2', timeline: { type: 'list', id: '1' } };
  return { ...common, kind: 'mastodon', timeline: { type: 'home' } };
}

/** The posts of a body, as JSON: those of a timeline, or the one of a status. */
function itemsOf(recording: Recording): readonly Record<string, unknown>[] | undefined {
  if (recording.status !== 200 && recording.status !== 206) return undefined;
  const isPost = (item: unknown) => Object(item).created_at !== undefined || Object(item).text !== undefined;
  const body = parse(recording.bodyText);
  const items = Array.isArray(body) ? body : Array.isArray(Object(body).data) ? Object(body).data : [body];
  const name = recording.name.split('/').at(-1) ?? '';
  // Versions of a status have no ids, and accounts have a time as well.
  const other = /history|account\.json|instance|nodeinfo|streaming|context/.test(name);
  return !other && items.every(isPost) ? items : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every id of a post in the text of a body, as it stands there: what no number may have touched. */
function exactIds(text: string, name: 'id' | 'id_str'): ReadonlySet<string> {
  return new Set([...text.matchAll(new RegExp(`"${name}": ?"([^"]+)"`, 'g'))].map(([, id = '']) => id));
}

for (const folder of isThere ? FOLDERS : []) {
  test(`every recorded timeline and status of ${folder} parses into posts with exact ids`, async (t) => {
    let timelines = 0;
    for (const recording of readRecordings(new URL(`${folder}/`, SHARED))) {
      const items = itemsOf(recording);
      if (!items) continue;
      timelines += 1;
      const spec = specOf(folder);
      const bodyText =
        folder !== 'twitter-v2' && !recording.bodyText.startsWith('[') ? `[${recording.bodyText}]` : recording.bodyText;
      const http = createFixedHttp({ ...replyOf(recording), bodyText });
      const page = await createUpstream(spec, { http, clock: testClock }).readPage({});
      const idName = folder === 'twitter-v1' ? 'id_str' : 'id';
      assert.deepEqual(
        page.ids,
        items.map((item) => item[idName]),
        recording.name,
      );
      assert.deepEqual(page.problems, [], recording.name);
      const known = exactIds(recording.bodyText, idName);
      for (const post of page.posts.flatMap((one) => [one, one.repostOf ?? one, one.quoted ?? one])) {
        assert.ok(known.has(post.upstreamId), `${recording.name}: ${post.upstreamId}`);
        assert.equal(typeof post.text, 'string');
        assert.ok(Number.isSafeInteger(post.createdAtMs));
      }
    }
    assert.ok(timelines > 0, `no timeline in ${folder}`);
    t.diagnostic(`${timelines} timelines and statuses of ${folder}`);
  });
}

/** Where a post holds another: it has the shape of any. */
const NESTED = ['reblog', 'quoted_status', 'retweeted_status'];

/** Adds the paths and types of all that a post holds: `.account.id` is `string`. */
function addShape(value: unknown, shape: Map<string, Set<string>>, path = ''): void {
  const type = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  shape.set(path, (shape.get(path) ?? new Set()).add(type));
  if (Array.isArray(value)) for (const item of value) addShape(item, shape, `${path}[]`);
  if (type !== 'object') return;
  for (const [name, part] of Object.entries(Object(value))) {
    const isNested = NESTED.includes(name) && part !== null;
    if (isNested) shape.set(`${path}.${name}`, new Set(['object']));
    addShape(part, shape, isNested ? '' : `${path}.${name}`);
  }
}

/** The shape of all posts of some folders. */
function postShape(folders: readonly URL[]): Map<string, Set<string>> {
  const shape = new Map<string, Set<string>>();
  for (const recording of folders.flatMap(readRecordings)) {
    for (const item of itemsOf(recording) ?? []) addShape(item, shape);
  }
  return shape;
}

/** What our hand-written replies use and no shared one happens to hold: all stand in the documentation. */
const DOCUMENTED: Readonly<Record<string, RegExp>> = {
  mastodon:
    /^(\.account\.emojis\[\](\.(shortcode|url|static_url|visible_in_picker))?|\.quote\.(state|quoted_status)|\.media_attachments\[\]\.meta\.(length|duration|fps|original\.(frame_rate|duration|bitrate)))$/,
  'twitter-v1': /^\.(extended_)?entities\.media\[\]\.(ext_alt_text|original_info(\.(width|height|focus_rects))?)$/,
  // The recorded ones were asked for without fields: they hold id, text and edit_history_tweet_ids.
  'twitter-v2':
    /^\.(author_id|created_at|lang|possibly_sensitive|public_metrics|note_tweet|referenced_tweets|entities|attachments|in_reply_to_user_id)(?![a-z_])/,
};

for (const folder of isThere ? HAND_WRITTEN : []) {
  test(`our hand-written replies of ${folder} have the fields and types of recorded ones`, (t) => {
    const kin = folder === 'mastodon' ? ['mastodon', 'gotosocial', 'hollo'] : [folder];
    const shared = postShape(kin.map((name) => new URL(`${name}/`, SHARED)));
    const ours = postShape([recordings(folder)]);
    let compared = 0;
    for (const [path, types] of ours) {
      const recorded = shared.get(path);
      if (!recorded) {
        assert.match(path, DOCUMENTED[folder] ?? /^$/, `${path} stands in no recording of ${folder}`);
        continue;
      }
      compared += 1;
      for (const type of types) {
        if (type === 'null' || recorded.has('null')) continue;
        assert.ok(recorded.has(type), `${path} is ${[...recorded]} in recordings, ${type} in ours`);
      }
    }
    t.diagnostic(`${compared} fields of ${folder} compared`);
    assert.ok(compared > 2);
  });
}
