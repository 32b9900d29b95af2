import assert from 'node:assert/strict';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCandidates } from '../src/candidates.ts';
import { type Clock, systemClock } from '../src/clock.ts';
import { createForYou, type ForYou } from '../src/feed/for-you.ts';
import { createFeedWatch } from '../src/feed/watch.ts';
import { idScheme } from '../src/ids/id-scheme.ts';
import { formatPostId } from '../src/ids/post-id.ts';
import { encodeSnowflake, MASTODON } from '../src/ids/snowflake.ts';
import { createStoryKeys } from '../src/ids/story-key.ts';
import { createTokens, type Tokens } from '../src/ids/tokens.ts';
import { createHydrator } from '../src/loaders.ts';
import type { Post, PostId } from '../src/post.ts';
import type { Recommender } from '../src/recommenders/recommender.ts';
import { createServer, type GraphqlServer, type ServerDeps } from '../src/server.ts';
import type { Audience, Source } from '../src/source.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Store } from '../src/stores/store.ts';
import type { Gap, LatenessHistogram } from '../src/stores/timeline-store.ts';
import { createTimelineReader } from '../src/timeline/reader/read.ts';
import type { Upstream } from '../src/upstreams/upstream.ts';

/** 2026-11-20T12:00:00.000Z: now, for the gateway under test, until a test moves it. */
export const NOW_MS = Date.UTC(2026, 10, 20, 12);

/** An answer as a client sees it. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape of its query, which differs from test to test
  readonly data: any;
  readonly errors: readonly {
    message: string;
    path?: unknown[];
    extensions: { code: string; argument?: string; retryAt?: string };
  }[];
  readonly text: string;
}

/** A whole gateway on a loopback port, over the embedded store, whose logs are written by the tests. */
export interface Edge {
  readonly url: string;
  readonly httpServer: Server;
  readonly server: GraphqlServer;
  readonly store: Store;
  readonly tokens: Tokens;
  readonly forYou: ForYou;
  readonly sources: readonly Source[];
  readonly logged: string[];
  readonly time: { nowMs: number };
  /** Asks as this user; as nobody without one. */
  ask(query: string, options?: { variables?: unknown; userId?: string }): Promise<Answer>;
  close(): Promise<void>;
}

export interface EdgeOptions {
  readonly sources?: readonly Source[];
  readonly recommender?: Recommender;
  readonly settings?: Partial<ServerDeps['settings']['server']>;
  readonly auth?: ServerDeps['settings']['auth'];
  /** Puts something else in the place of a part. */
  readonly replace?: (parts: ServerDeps) => Partial<ServerDeps>;
}

export async function openEdge(options: EdgeOptions = {}): Promise<Edge> {
  const store = await openSqliteStore({ file: ':memory:' });
  const sources = options.sources ?? [createSource('town')];
  const time = { nowMs: NOW_MS };
  const clock: Clock = { now: () => time.nowMs, monotonic: systemClock.monotonic, sleep: systemClock.sleep };
  const refresh = async () => new Set<string>();
  const newestFirst: Recommender = {
    recommend: async ({ candidates }) => candidates.map(({ post }) => ({ postId: post.id })),
  };
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const watch = createFeedWatch(log);
  const forYou = createForYou({
    watch,
    feeds: store.feeds,
    recommender: options.recommender ?? newestFirst,
    local: newestFirst,
    storyKeys: createStoryKeys([Buffer.alloc(32, 7)]),
    clock,
    settings: { size: 500, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
    log,
  });
  const tokens = createTokens([Buffer.alloc(32, 9)]);
  const parts: ServerDeps = {
    settings: {
      server: { host: '127.0.0.1', cors: [], graphiql: true, ...options.settings },
      auth: options.auth ?? { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1'] },
    },
    sources,
    store,
    tokens,
    timeline: createTimelineReader({ store, refresh, clock, maxWaitMs: 0 }),
    forYou,
    watch,
    candidates: createCandidates({ store, sources, refresh, clock, maxWaitMs: 0 }),
    hydrator: createHydrator({ ...store, sources, takeById: async (_, count) => count, clock }),
    clock,
    version: '0.0.0',
    log,
  };
  const server = createServer({ ...parts, ...options.replace?.(parts) });
  // A test that fails before it closes its gateway must not hang.
  const httpServer = createHttpServer(server.handler).unref();
  await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`;

  return {
    url,
    httpServer,
    server,
    store,
    tokens,
    forYou,
    sources,
    logged,
    time,
    ask: async (query, { variables, userId } = {}) => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(userId !== undefined && { 'x-user-id': userId }) },
        body: JSON.stringify({ query, variables }),
      });
      const text = await response.text();
      const { data, errors = [] } = JSON.parse(text);
      return { status: response.status, data, errors, text };
    },
    async close() {
      httpServer.closeAllConnections();
      await new Promise((resolve) => httpServer.close(resolve));
      await forYou.drain();
      assert.deepEqual([watch.repeats, watch.deadEnds], [0, 0]);
      await store.close();
    },
  };
}

/** Data of an answer without errors. */
export function dataOf({ data, errors }: Answer): Answer['data'] {
  assert.deepEqual(errors, []);
  return data;
}

/** `code` or `code argument` of each error. */
export function codesOf({ errors }: Answer): readonly string[] {
  return errors.map(({ extensions: { code, argument } }) => [code, argument].filter(Boolean).join(' '));
}

/** A Mastodon source whose upstream knows nothing. */
export function createSource(key: string, options: { audience?: Audience; upstream?: Partial<Upstream> } = {}): Source {
  return {
    key,
    logId: `mastodon:${key}.example:public`,
    network: 'mastodon',
    host: `${key}.example`,
    url: `https://${key}.example`,
    timeline: 'public',
    audience: options.audience ?? 'anyone',
    credentialId: `${key}.example`,
    upstream: {
      describe: async () => ({ idScheme: 'mastodon', roundsIds: false, pageSize: 40, sinceId: true, bulk: 20 }),
      readPage: async () => ({ posts: [], ids: [], partial: false, problems: [], sentAtMs: NOW_MS }),
      fetchPosts: async () => ({ posts: new Map(), gone: [], failed: new Map(), sentAtMs: NOW_MS }),
      ...options.upstream,
    },
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
  };
}

/** A post of this source, `secondsAgo` before NOW_MS. */
export function createPost(source: Source, secondsAgo: number, changes: Partial<Post> = {}): Post {
  const timeMs = NOW_MS - secondsAgo * 1000;
  const upstreamId = changes.upstreamId ?? encodeSnowflake(MASTODON, { timeMs, sequence: 1 });
  const id: PostId = formatPostId(upstreamId, source.host);
  return {
    id,
    upstreamId,
    network: 'mastodon',
    idScheme: 'mastodon',
    uri: `https://${source.host}/posts/${upstreamId}`,
    text: `post of ${source.key}, ${secondsAgo} s ago`,
    html: `<p>post of ${source.key}, ${secondsAgo} s ago</p>`,
    createdAtMs: timeMs,
    visibility: 'PUBLIC',
    sensitive: false,
    media: [],
    hashtags: [],
    mentions: [],
    emojis: [],
    counts: {},
    ...changes,
  };
}

/** Commits posts to the source's log as one poll would, lowest id first. */
export async function publish(
  edge: Pick<Edge, 'store' | 'time'>,
  source: Source,
  posts: readonly Post[],
  commit: { gaps?: readonly Gap[]; lateness?: LatenessHistogram } = {},
): Promise<void> {
  const { nowMs } = edge.time;
  const { version } = await edge.store.timelines.readLog(source.logId);
  const scheme = idScheme('mastodon');
  const append = posts
    .map(({ id, uri, upstreamId, createdAtMs }) => ({
      kind: 'entry' as const,
      postId: id,
      uri,
      upstreamId,
      orderKey: scheme.orderKey(upstreamId),
      revision: '1',
      sortAtMs: Math.min(createdAtMs, nowMs),
      arrivedAtMs: nowMs,
      late: false,
    }))
    .sort((a, b) => (a.orderKey < b.orderKey ? -1 : 1));
  const { committed } = await edge.store.timelines.commit({
    logId: source.logId,
    expectedVersion: version,
    nowMs,
    append,
    posts: posts.map((post) => ({ post, readAtMs: nowMs })),
    counts: { posts: posts.length, requests: 1 },
    ...commit,
  });
  assert.equal(committed, true);
}
