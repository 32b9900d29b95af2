import { formatPostId } from '../ids/post-id.ts';
import type { Source } from '../source.ts';
import type { TimelineStore } from '../stores/timeline-store.ts';
import type { PlainPoller } from './plain-poller.ts';
import type { Replay } from './replay.ts';

export interface Score {
  readonly published: number;
  readonly missedByPlain: number;
  readonly missedBySluice: number;
}

/** Posts count once they have been visible for this long: by then every poller had its chance. */
const SETTLED_MS = 8_000;

/** Counts which posts of `source` the log and the plain poller miss, of those that became visible since `fromMs`. */
export async function keepScore(options: {
  source: Source;
  timelines: TimelineStore;
  replay: Replay;
  plain: PlainPoller;
  fromMs: number;
  nowMs: number;
}): Promise<Score> {
  const { source, timelines, replay, plain, fromMs, nowMs } = options;
  const published = replay.visibleBetween(fromMs, nowMs - SETTLED_MS);
  const postIds = published.map((id) => formatPostId(id, source.host));
  const known = await timelines.known(source.logId, postIds);
  return {
    published: published.length,
    missedByPlain: published.filter((id) => !plain.seen.has(id)).length,
    missedBySluice: postIds.filter((id) => !known.has(id)).length,
  };
}
