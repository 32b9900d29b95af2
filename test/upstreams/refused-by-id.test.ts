import assert from 'node:assert/strict';
import test from 'node:test';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { UpstreamSpec } from '../../src/upstreams/spec.ts';
import { NOW_MS, testClock } from './replay-http.ts';

const common = { url: 'https://some.example', host: 'some.example', token: 'ada', keepPrivate: true } as const;
const mastodon = { ...common, kind: 'mastodon', timeline: { type: 'public' } } as const;
const twitter = { ...common, kind: 'twitter', timeline: { type: 'user', userId: '12' } } as const;

/** Each with the path of its timeline, an empty page, and what it says that it is. */
const NETWORKS: readonly (readonly [name: string, UpstreamSpec, path: string, page: object, version?: string])[] = [
  ['a server in bulk', mastodon, '/api/v1/timelines/public', [], '4.3.1 (compatible; mastodon 4.3.1)'],
  ['a server one by one', mastodon, '/api/v1/timelines/public', [], '4.0.0 (not true; really snac/2.94)'],
  ['API 1.1', { ...twitter, api: '1.1' }, '/1.1/statuses/user_timeline.json', []],
  ['API 2', { ...twitter, api: '2' }, '/2/users/12/tweets', { meta: {} }],
];
const ids = ['1789000000000000001', '1789000000000000002', '1789000000000000003'];

for (const [name, spec, path, page, version] of NETWORKS) {
  test(`${name}: reads by id that are refused are told of each id, while the timeline is read`, async () => {
    for (const [status, code] of [
      [401, 'UNAUTHORIZED'],
      [403, 'FORBIDDEN'],
    ] as const) {
      const answers = new Map<string, object>([
        [path, page],
        ['/api/v2/instance', { version }],
      ]);
      const http = {
        async get({ url }: { url: URL }) {
          const body = answers.get(url.pathname);
          return { status: body ? 200 : status, headers: {}, bodyText: JSON.stringify(body ?? {}), sentAtMs: NOW_MS };
        },
        close: () => Promise.resolve(),
      };
      const upstream = createUpstream(spec, { http, clock: testClock });
      const { posts, gone, failed } = await upstream.fetchPosts(ids);
      assert.deepEqual([posts.size, gone], [0, []]);
      assert.deepEqual(
        ids.map((id) => failed.get(id)?.code),
        ids.map(() => code),
      );
      assert.deepEqual((await upstream.readPage({})).ids, []);
    }
  });
}
