import { type SimulatedHttp, startSimulatedHttp } from '../../test/simulated-http.ts';
import { simulatedId } from '../../test/simulated-ids.ts';
import { createSimulatedTimeline } from '../../test/simulated-timeline.ts';
import type { FleetOptions, Limit } from './options.ts';

/** One request that came to a server, refused ones included. */
export interface TownRequest {
  readonly atMs: number;
  /** Which gateway asked. */
  readonly gateway: number;
  /** The timeline's path; absent for a post. */
  readonly path?: string | undefined;
  /** True for one that counts in the throttle: it names a place. */
  readonly isThrottled: boolean;
  /** True for a page from the top, as every poll begins. */
  readonly isTop: boolean;
  readonly isRefused: boolean;
}

/** A Mastodon that one token reads, and that counts what it is asked. */
export interface FleetTown extends SimulatedHttp {
  readonly requests: readonly TownRequest[];
  /** A post is written now; one in a hundred shows up to 4 s late. */
  publish(): void;
  /** Every post, by when it was made, Unix ms. */
  readonly posts: ReadonlyMap<string, { readonly atMs: number }>;
}

export async function startFleetTown(options: FleetOptions, random: () => number): Promise<FleetTown> {
  const timeline = createSimulatedTimeline({ pageSize: 40 });
  const requests: TownRequest[] = [];
  const throttle = createWindow(options.throttle);
  const headers = createWindow(options.headers);
  let salt = 0;

  const server = await startSimulatedHttp(timeline, () => ({ nowMs: Date.now() }), {
    admit({ path, userAgent = '', query }) {
      const atMs = Date.now();
      const isThrottled = query?.sinceId !== undefined || query?.maxId !== undefined;
      const isOver = [headers.take(atMs), ...(isThrottled ? [throttle.take(atMs)] : [])].includes(false);
      const isTop = query !== undefined && query.maxId === undefined;
      const gateway = Number(/gateway-(\d+)/.exec(userAgent)?.[1]);
      requests.push({ gateway, atMs, path: query && path, isThrottled, isTop, isRefused: isOver });
      return { headers: headers.tell(atMs), status: isOver ? 429 : undefined };
    },
  });

  return {
    ...server,
    requests,
    posts: timeline.posts,
    publish() {
      salt += 1;
      const atMs = Date.now();
      const lateMs = random() < 0.01 ? 600 + random() * 3500 : 0;
      timeline.put({ id: simulatedId('mastodon', atMs, salt), atMs, visibleAtMs: atMs + lateMs, text: `post ${salt}` });
    },
  };
}

/** Fixed windows, as Mastodon's. */
function createWindow({ requests, windowMs }: Limit) {
  let window = -1;
  let taken = 0;
  return {
    /** False when the window allows no more. */
    take(nowMs: number): boolean {
      if (Math.floor(nowMs / windowMs) !== window) taken = 0;
      window = Math.floor(nowMs / windowMs);
      taken += 1;
      return taken <= requests;
    },
    tell: (nowMs: number): Record<string, string> => ({
      'x-ratelimit-limit': String(requests),
      'x-ratelimit-remaining': String(Math.max(0, requests - taken)),
      'x-ratelimit-reset': new Date((Math.floor(nowMs / windowMs) + 1) * windowMs).toISOString(),
    }),
  };
}
