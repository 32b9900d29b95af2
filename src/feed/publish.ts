import type { FeedStore } from '../stores/feed-store.ts';

const ATTEMPTS = 4;

/**
 * Makes the instance the current one, if nobody else did meanwhile; returns the feedId of the winner. With `renew` it is to
 * replace whichever is the current one: another's only wins where it comes again and again.
 */
export async function publishAsCurrent(
  feeds: Pick<FeedStore, 'publish' | 'current'>,
  publication: Omit<Parameters<FeedStore['publish']>[0], 'nowMs'>,
  { renew, now }: { renew: boolean; now: () => number },
): Promise<string> {
  const { viewerId, instance } = publication;
  let { replaces } = publication;
  for (let attempt = 1; ; attempt++) {
    const { feedId } = await feeds.publish({ ...publication, replaces, nowMs: now() });
    if (feedId === instance.feedId || !renew || attempt === ATTEMPTS) return feedId;
    replaces = (await feeds.current(viewerId, now())).alias;
  }
}
