import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSqliteStore } from '../../../src/stores/sqlite.ts';
import { createPollers } from '../../../src/timeline/pollers.ts';
import type { HttpClient } from '../../../src/upstreams/http.ts';
import { createUpstream } from '../../../src/upstreams/registry.ts';
import type { TwitterTimeline } from '../../../src/upstreams/spec.ts';
import { simulatedId } from '../../simulated-ids.ts';
import { createSimulatedTimeline } from '../../simulated-timeline.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createSource, LOG } from '../polling-harness.ts';

/** Twitter's API 2 as its adapter sees it: a timeline that shows so many of its newest tweets. */
async function createBird(timeline: TwitterTimeline, feedDepth: number) {
  const clock = createVirtualClock();
  const store = await openSqliteStore({ file: ':memory:' });
  const tweets = createSimulatedTimeline({ pageSize: 100, feedDepth });
  const http: HttpClient = {
    async get({ url }) {
      const asked = (name: string) => url.searchParams.get(name) ?? undefined;
      const maxId = asked('pagination_token') ?? asked('until_id');
      const page = tweets.page({ maxId, sinceId: asked('since_id'), limit: Number(asked('max_results')) }, clock.now());
      const data = page.posts.map(({ id, atMs, text }) => {
        return { id, text, created_at: new Date(atMs).toISOString(), edit_history_tweet_ids: [id] };
      });
      const meta = { result_count: data.length, ...(page.next !== undefined && { next_token: page.next }) };
      const bodyText = JSON.stringify({ ...(data.length > 0 && { data }), meta });
      return { status: 200, headers: { date: new Date(clock.now()).toUTCString() }, bodyText, sentAtMs: clock.now() };
    },
    close: async () => {},
  };
  const url = 'https://api.twitter.com';
  const spec = { kind: 'twitter', api: '2', url, host: 'x.com', keepPrivate: true, timeline } as const;
  const upstream = createUpstream(spec, { http, clock });
  const source = { ...createSource({ upstream }, { minIntervalMs: 60_000 }), host: 'x.com' };
  let salt = 0;

  return {
    /** One every 100 ms. */
    publish(count: number) {
      for (let left = count; left > 0; left -= 1) {
        salt += 1;
        const atMs = clock.now() - left * 100;
        tweets.put({ id: simulatedId('twitter', atMs, salt), atMs, visibleAtMs: atMs, text: `tweet ${salt}` });
      }
    },
    async pollFor(ms: number) {
      const keep = { keepHours: 168, keepEntries: 100_000 };
      const pollers = createPollers({ sources: [source], store, clock, holder: 'gateway', keep });
      pollers.start();
      await clock.advance(ms);
      await pollers.stop();
    },
    pass: clock.advance,
    log: () => store.timelines.readLog(LOG),
  };
}

describe('what Twitter’s API 2 does not show any more after a pause', () => {
  for (const [timeline, depth] of [
    [{ type: 'home', userId: '4301' }, 'known to be 800'],
    [{ type: 'list', id: '42' }, 'not known'],
  ] as const) {
    it(`is told as a final gap in a ${timeline.type} timeline, whose depth is ${depth}`, async () => {
      const bird = await createBird(timeline, 800);
      bird.publish(50);
      await bird.pollFor(60_000);
      await bird.pass(1_800_000);
      bird.publish(2020);
      await bird.pollFor(600_000);
      const { counts, gaps } = await bird.log();
      assert.equal(counts.posts, 50 + 800);
      assert.deepEqual(
        gaps.map(({ reason, final }) => [reason, final]),
        [['FEED_TRUNCATED', true]],
      );
      const [{ fromMs = 0, toMs = 0 } = {}] = gaps;
      // Of 2,020 that came every 100 ms the oldest 1,220 are not shown.
      assert.ok(toMs - fromMs >= 121_900, `${toMs - fromMs} ms are told to be missing`);
    });
  }

  it('is nothing where all of it is still shown', async () => {
    const bird = await createBird({ type: 'home', userId: '4301' }, 800);
    bird.publish(50);
    await bird.pollFor(60_000);
    await bird.pass(60_000);
    bird.publish(700);
    await bird.pollFor(600_000);
    const { counts, gaps } = await bird.log();
    assert.deepEqual([counts.posts, gaps], [750, []]);
  });
});
