import { type Homes, originalOf, withOriginal } from '../home-copy.ts';
import type { Post, PostId } from '../post.ts';
import type { TimelineStore } from '../stores/timeline-store.ts';

/**
 * These posts by their ids, with the home copy in the place of each copy from elsewhere, itself or inside a repost, whose
 * home has brought it: the id stays, the post is another. What its home removed, or does not show this viewer, is left out.
 * Looks nothing up where no post claims to be of a source's host without coming from there, as almost none does.
 */
export async function bringHome(
  posts: ReadonlyMap<PostId, Post>,
  deps: {
    /** By the sources that the viewer may read. */
    homes: Homes;
    timelines: Pick<TimelineStore, 'entriesByUri'>;
    load: (id: PostId) => Promise<Post | undefined>;
  },
): Promise<ReadonlyMap<PostId, Post>> {
  const { homes, timelines, load } = deps;
  const foreign = [...posts.values()].map(originalOf).flatMap(({ id, uri }) => {
    return homes.isHome({ postId: id, uri }) ? [] : homes.sourcesOf(uri).map(({ logId }) => ({ logId, uri }));
  });
  if (foreign.length === 0) return posts;
  const byLog = [...Map.groupBy(foreign, ({ logId }) => logId)];
  const found = await Promise.all(
    byLog.map(([logId, of]) =>
      timelines.entriesByUri(
        logId,
        of.map(({ uri }) => uri),
      ),
    ),
  );
  const entries = Map.groupBy(found.flat(), ({ uri }) => uri);
  const brought = [...entries].map(async ([uri, copies]) => {
    const live = [...new Set(copies.flatMap(({ postId, removedAt }) => (removedAt === undefined ? [postId] : [])))];
    return [uri, (await Promise.all(live.map(load))).find((post) => post !== undefined)] as const;
  });
  const atHome = new Map(await Promise.all(brought));
  return new Map(
    [...posts].flatMap(([id, post]) => {
      const original = originalOf(post);
      const isHome = homes.isHome({ postId: original.id, uri: original.uri });
      if (isHome || !atHome.has(original.uri)) return [[id, post] as const];
      const home = atHome.get(original.uri);
      return home ? [[id, withOriginal(post, home)] as const] : [];
    }),
  );
}
