import type { Problem } from '../src/errors.ts';
import type { Post } from '../src/post.ts';
import type { Audience, Source } from '../src/source.ts';
import type { Store } from '../src/stores/store.ts';
import type { FetchedPosts, Upstream } from '../src/upstreams/upstream.ts';

/** What an upstream knows of a post: the post, that it is gone, or (absent) a failure. */
export type Knowledge = Map<string, Post | 'gone'>;

export interface FakeUpstream extends Upstream {
  readonly knows: Knowledge;
  /** The ids of each request for posts. */
  readonly asked: (readonly string[])[];
  /** What a request for posts does instead of answering. */
  behave: { throws?: unknown; hangs?: boolean; bulk?: number };
}

export function fakeUpstream(now: () => number): FakeUpstream {
  const knows: Knowledge = new Map();
  const asked: (readonly string[])[] = [];
  const upstream: FakeUpstream = {
    knows,
    asked,
    behave: {},
    describe: async () => ({
      idScheme: 'mastodon',
      roundsIds: false,
      pageSize: 40,
      sinceId: true,
      bulk: upstream.behave.bulk ?? 100,
    }),
    readPage: async () => {
      throw new Error('not asked in these tests');
    },
    async fetchPosts(ids): Promise<FetchedPosts> {
      asked.push(ids);
      if (upstream.behave.throws !== undefined) throw upstream.behave.throws;
      if (upstream.behave.hangs) return new Promise(() => {});
      const problem: Problem = { code: 'UNAVAILABLE', message: 'it did not answer' };
      const found = ids.flatMap((id) => {
        const known = knows.get(id);
        return known === undefined || known === 'gone' ? [] : [[id, known] as const];
      });
      return {
        posts: new Map(found),
        gone: ids.filter((id) => knows.get(id) === 'gone'),
        failed: new Map(ids.filter((id) => !knows.has(id)).map((id) => [id, problem])),
        sentAtMs: now(),
      };
    },
  };
  return upstream;
}

export function source(key: string, audience: Audience, upstream: Upstream, overrides: Partial<Source> = {}): Source {
  return {
    key,
    logId: `log of ${key}`,
    network: 'mastodon',
    host: 'town.example',
    url: 'https://town.example',
    timeline: 'home',
    audience,
    upstream,
    credentialId: key,
    polling: {
      minIntervalMs: 5000,
      idleIntervalMs: 60_000,
      sweepIntervalMs: 300_000,
      overlapMs: 60_000,
      overlap: 'latest',
      pollWhen: 'always',
      ownInterval: false,
      ownOverlap: false,
    },
    ...overrides,
  };
}

/** Appends posts to a source's log, as its poller does. */
export async function show(store: Store, { logId }: Source, posts: readonly Post[], nowMs: number): Promise<void> {
  const { version } = await store.timelines.readLog(logId);
  const result = await store.timelines.commit({
    logId,
    expectedVersion: version,
    nowMs,
    append: posts.map((post) => ({
      kind: 'entry',
      postId: post.id,
      uri: post.uri,
      upstreamId: post.upstreamId,
      orderKey: post.upstreamId.padStart(20, '0'),
      revision: 'r1',
      sortAtMs: Math.min(post.createdAtMs, nowMs),
      arrivedAtMs: nowMs,
      late: false,
    })),
    posts: posts.map((post) => ({ post, readAtMs: nowMs })),
  });
  if (!result.committed) throw new Error('the fixture must commit');
}
