import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createSimulatedTimeline, type Manners } from './simulated-timeline.ts';

/** What a real server answered to one request. */
interface Page {
  readonly server: string;
  readonly timeline: string;
  readonly name: string;
  readonly query: { readonly since_id?: string; readonly max_id?: string; readonly limit?: string };
  /** In the order of the page. */
  readonly ids: readonly string[];
}

const PAGES: readonly Page[] = JSON.parse(readFileSync(new URL('recordings/page-ids.json', import.meta.url), 'utf8'));

/** The simulated server's manners that stand for each real one, and how many posts it gives to who names no limit. */
const SERVERS: Readonly<Record<string, (timeline: string) => { manners: Manners; limit: number }>> = {
  gotosocial: (timeline) => ({
    manners: { pageSize: 40, ignoresSinceId: timeline === 'account' },
    limit: timeline === 'account' ? 30 : 20,
  }),
  hollo: (timeline) => ({ manners: { pageSize: 1000, ignoresSinceId: timeline === 'account' }, limit: 20 }),
  snac: (timeline) => ({
    manners: { pageSize: 1000, isOpaque: true, ignoresSinceId: timeline === 'account' },
    limit: 20,
  }),
};

for (const [server, mannersOf] of Object.entries(SERVERS)) {
  describe(`the simulated timeline answers as ${server} did`, () => {
    const pages = PAGES.filter((page) => page.server === server);
    for (const timeline of new Set(pages.map((page) => page.timeline))) {
      const { manners, limit } = mannersOf(timeline);
      const recorded = pages.filter((page) => page.timeline === timeline);
      const simulated = createSimulatedTimeline(manners);
      const order = orderOf(recorded);
      for (const [n, id] of order.toReversed().entries()) {
        simulated.put({ id, atMs: n, visibleAtMs: n, text: id });
      }
      for (const { name, query, ids } of recorded) {
        it(name, () => {
          const asked = { sinceId: query.since_id, maxId: query.max_id, limit: Number(query.limit ?? limit) };
          const page = simulated.page(asked, order.length);
          assert.deepEqual(
            page.posts.map(({ id }) => id),
            ids,
          );
        });
      }
    }
  });
}

it('every recorded page is of a server that is simulated', () => {
  assert.ok(PAGES.length > 80);
  assert.deepEqual(new Set(PAGES.map(({ server }) => server)), new Set(Object.keys(SERVERS)));
});

/** All ids of the pages, newest first: each page's own order, put together where they overlap. */
function orderOf(pages: readonly Page[]): readonly string[] {
  const order: string[] = [];
  for (const { ids } of pages.toSorted((a, b) => b.ids.length - a.ids.length)) {
    let at = order.indexOf(ids.find((id) => order.includes(id)) ?? '');
    // A page that overlaps with none before it lies below them.
    if (at < 0) at = order.length;
    for (const id of ids) {
      const known = order.indexOf(id);
      if (known < 0) order.splice(at, 0, id);
      at = (known < 0 ? at : known) + 1;
    }
  }
  return order;
}
