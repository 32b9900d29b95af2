import type { JsonObject } from './recording.ts';

/** Recorded posts, played again and again with ids and times of today. */
export interface Replay {
  /** Makes the next recorded post visible. `lateMs`: its id and time lie that far in the past, as when a server commits late. */
  publish(nowMs: number, lateMs?: number): string;
  /** Changes the text of the newest post that was not edited yet. */
  edit(nowMs: number): void;
  /** What a reader sees now, highest id first: `id > sinceId`, `id < beforeId`. */
  page(query: { sinceId?: string | undefined; beforeId?: string | undefined; limit: number }): readonly JsonObject[];
  find(id: string): JsonObject | undefined;
  /** Ids that became visible at or after `fromMs` and at or before `toMs`. */
  visibleBetween(fromMs: number, toMs: number): readonly string[];
}

/** What differs between the networks: how a recorded post looks with another id, and what an edit does to it. */
export interface ReplayShape {
  /** An id of this time; `n` differs for posts of one millisecond. Ids compare as text. */
  id(timeMs: number, n: number): string;
  /** `round` counts from 1 how often the recording was played: the words say so, or the feed would seem to repeat itself. */
  post(recorded: JsonObject, as: { id: string; timeMs: number; round: number }): JsonObject;
  edited(post: JsonObject, nowMs: number): JsonObject;
}

interface ReplayedPost {
  readonly id: string;
  readonly visibleAtMs: number;
  body: JsonObject;
  edited: boolean;
}

/** As many posts as Mastodon keeps in a home feed. */
const KEEP = 400;

export function createReplay(recorded: readonly JsonObject[], shape: ReplayShape): Replay {
  const posts: ReplayedPost[] = [];
  let count = 0;

  return {
    publish(nowMs, lateMs = 0) {
      const template = recorded[count % recorded.length] ?? {};
      const timeMs = nowMs - lateMs;
      const id = shape.id(timeMs, count % 4096);
      const round = 1 + Math.floor(count / recorded.length);
      count += 1;
      posts.push({ id, visibleAtMs: nowMs, body: shape.post(template, { id, timeMs, round }), edited: false });
      if (posts.length > KEEP) posts.shift();
      return id;
    },
    edit(nowMs) {
      const post = posts.findLast((candidate) => !candidate.edited);
      if (!post) return;
      post.body = shape.edited(post.body, nowMs);
      post.edited = true;
    },
    page({ sinceId = '', beforeId, limit }) {
      return posts
        .filter((post) => post.id > sinceId && (beforeId === undefined || post.id < beforeId))
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map((post) => post.body);
    },
    find: (id) => posts.find((post) => post.id === id)?.body,
    visibleBetween: (fromMs, toMs) =>
      posts.filter((post) => post.visibleAtMs >= fromMs && post.visibleAtMs <= toMs).map((post) => post.id),
  };
}
