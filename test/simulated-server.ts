import { type Problem, UpstreamError } from '../src/errors.ts';
import { formatPostId } from '../src/ids/post-id.ts';
import type { IdSchemeName, Post } from '../src/post.ts';
import type {
  FetchedPosts,
  PageRequest,
  RateLimit,
  Upstream,
  UpstreamDescription,
  UpstreamPage,
} from '../src/upstreams/upstream.ts';
import {
  createSimulatedTimeline,
  type Manners,
  type SimulatedPost,
  type SimulatedTimeline,
} from './simulated-timeline.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const HOST = 'town.example';

export interface SimulatedServer {
  readonly timeline: SimulatedTimeline;
  readonly upstream: Upstream;
  /** All requests for pages, oldest first. */
  readonly requests: readonly PageRequest[];
  /** All requests by id, oldest first. */
  readonly byId: readonly (readonly string[])[];
  /** The server's own time, Unix ms: local steps do not touch it. */
  now(): number;
}

export interface SimulatedOptions extends Manners {
  readonly clock: VirtualClock;
  readonly scheme: IdSchemeName;
  /** What `describe` says beside what follows from the manners. */
  readonly described?: Partial<UpstreamDescription>;
  /** How far the server's clock is ahead of the local one's start. */
  readonly aheadMs?: number;
  readonly hasNoDate?: boolean;
  readonly latencyMs?: number;
  /** Looks at each request (from 1) before it is answered; may throw, may say that the reply is partial. */
  readonly before?: (request: PageRequest, count: number) => 'partial' | undefined;
  /** What is said about a post by id, instead of the truth; a code: that it failed so. `count` requests by id from 1. */
  readonly fetchById?: (upstreamId: string, count: number) => 'gone' | 'failed' | Problem['code'] | undefined;
  readonly rateLimit?: (count: number) => RateLimit | undefined;
}

/** The simulated server as an Upstream, inside the process and on a virtual clock. */
export function createSimulatedServer(options: SimulatedOptions): SimulatedServer {
  const { clock, scheme, aheadMs = 0, latencyMs = 0 } = options;
  const timeline = createSimulatedTimeline(options);
  const requests: PageRequest[] = [];
  const byId: (readonly string[])[] = [];
  const startMs = clock.now() - clock.elapsedMs + aheadMs;
  const now = () => startMs + clock.elapsedMs;
  /** What a request waits beside the latency. */
  const stall = async () => {
    const stallMs = timeline.stallMs(now());
    if (stallMs > 0) await clock.sleep(stallMs);
  };
  const description: UpstreamDescription = {
    software: 'simulated 1.0',
    idScheme: scheme,
    roundsIds: options.comparesDoubles ?? false,
    pageSize: options.pageSize,
    feedDepths: options.feedDepth === undefined ? undefined : [options.feedDepth],
    sinceId: true,
    before: scheme !== 'opaque',
    bulk: 1,
    ...options.described,
  };

  function read(post: SimulatedPost): Post {
    const original = post.boostOf === undefined ? undefined : timeline.posts.get(post.boostOf);
    const own = toPost(post, scheme);
    return original ? { ...own, text: '', html: '', repostOf: toPost(original, scheme) } : own;
  }

  async function readPage(request: PageRequest): Promise<UpstreamPage> {
    const sentAtMs = clock.now();
    requests.push(request);
    const count = requests.length;
    await stall();
    if (latencyMs > 0) await clock.sleep(latencyMs / 2);
    const verdict = options.before?.(request, count);
    const nowMs = now();
    const { sinceId, next, before, limit } = request;
    const maxId = next ?? before;
    const page = timeline.page({ sinceId, maxId, limit }, nowMs);
    if (latencyMs > 0) await clock.sleep(latencyMs / 2);
    if (request.signal?.aborted) throw new UpstreamError('UNAVAILABLE', 'the request was broken off');
    // What a home feed that is being rebuilt holds so far: its older half.
    const posts = verdict === 'partial' ? page.posts.slice(Math.floor(page.posts.length / 2)) : page.posts;
    return {
      posts: posts.map(read),
      ids: posts.map(({ id }) => id),
      next: page.next,
      partial: verdict === 'partial',
      problems: [],
      rateLimit: options.rateLimit?.(count),
      sentAtMs,
      serverDateMs: options.hasNoDate ? undefined : Math.floor(nowMs / 1000) * 1000,
    };
  }

  async function fetchPosts(upstreamIds: readonly string[]): Promise<FetchedPosts> {
    const sentAtMs = clock.now();
    byId.push(upstreamIds);
    await stall();
    if (latencyMs > 0) await clock.sleep(latencyMs);
    const posts = new Map<string, Post>();
    const gone: string[] = [];
    const failed = new Map<string, Problem>();
    for (const id of upstreamIds) {
      const answer = options.fetchById?.(id, byId.length) ?? timeline.byId(id);
      if (answer === 'failed') failed.set(id, { code: 'UNAVAILABLE', message: 'simulated outage' });
      else if (answer === 'unauthorized') failed.set(id, { code: 'UNAUTHORIZED', message: 'simulated 401' });
      else if (answer === 'gone') gone.push(id);
      else if (typeof answer === 'string') failed.set(id, { code: answer, message: `simulated ${answer}` });
      else posts.set(id, read(answer));
    }
    return { posts, gone, failed, sentAtMs };
  }

  return {
    timeline,
    requests,
    byId,
    now,
    upstream: {
      describe: async () => description,
      readPage,
      fetchPosts,
    },
  };
}

/** What an adapter makes of a simulated post. */
function toPost({ id, atMs, text, editedAtMs, likes }: SimulatedPost, idScheme: IdSchemeName): Post {
  return {
    id: formatPostId(id, HOST),
    upstreamId: id,
    network: 'mastodon',
    idScheme,
    uri: `https://${HOST}/posts/${id}`,
    text,
    html: `<p>${text}</p>`,
    createdAtMs: atMs,
    editedAtMs,
    visibility: 'PUBLIC',
    sensitive: false,
    media: [],
    hashtags: [],
    mentions: [],
    emojis: [],
    counts: { likes },
  };
}
