import type { ForYouView } from '../../src/feed/for-you.ts';
import { createSource, NOW_MS, openEdge, publish } from '../../test/edge-fixture.ts';
import { createPosts } from './posts.ts';

// The edge alone: each viewer's page is kept from the first time it is asked for. It tells its URL, then its CPU time when asked.
const town = createSource('town');
const edge = await openEdge({
  sources: [town],
  replace: ({ forYou }) => {
    const pages = new Map<string, Promise<ForYouView>>();
    return {
      forYou: {
        ...forYou,
        page(request) {
          const key = `${request.userId} ${request.cursor?.offset}`;
          const page = pages.get(key) ?? forYou.page(request);
          pages.set(key, page);
          return page;
        },
      },
    };
  },
});
await publish(edge, town, createPosts(town, NOW_MS));
edge.httpServer.ref();
process.send?.({ url: `${edge.url}/graphql` });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
process.on('disconnect', () => process.exit(0));
