import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSimulatedServer } from './simulated-server.ts';
import { createSimulatedTimeline, type Manners } from './simulated-timeline.ts';
import { createVirtualClock } from './virtual-clock.ts';

const NOW_MS = 100;

/** Posts a to e of an opaque order, made at 1 to 5; `e` is the newest. */
function fivePosts(manners: Partial<Manners> = {}) {
  const timeline = createSimulatedTimeline({ pageSize: 3, isOpaque: true, ...manners });
  for (const [n, id] of [...'abcde'].entries()) timeline.put({ id, atMs: n + 1, visibleAtMs: n + 1, text: id });
  const page = (query: { sinceId?: string; maxId?: string; limit?: number } = {}) =>
    timeline.page(query, NOW_MS).posts.map(({ id }) => id);
  return { timeline, page };
}

describe('a simulated timeline of opaque ids', () => {
  it('shows a late post in the middle, where it was made', () => {
    const { timeline, page } = fivePosts({ pageSize: 10 });
    timeline.put({ id: 'late', atMs: 3.5, visibleAtMs: NOW_MS, text: '' });
    assert.deepEqual(page(), ['e', 'd', 'late', 'c', 'b', 'a']);
  });

  it('lists a post again higher up, and no more at its old place', () => {
    const { timeline, page } = fivePosts({ pageSize: 10 });
    timeline.change('b', { listedAtMs: 50 });
    assert.deepEqual(page(), ['b', 'e', 'd', 'c', 'a']);
    timeline.put({ id: 'f', atMs: 60, visibleAtMs: 60, text: '' });
    assert.deepEqual(page(), ['f', 'b', 'e', 'd', 'c', 'a']);
  });

  it('lists it at both places where lines are kept: cursors stop at the upper one, a reply shows it once', () => {
    const { timeline, page } = fivePosts({ keepsOldLines: true });
    timeline.change('b', { listedAtMs: 50 });
    assert.deepEqual(page(), ['b', 'e', 'd']);
    assert.deepEqual(page({ maxId: 'd' }), ['c', 'b', 'a']);
    assert.deepEqual(page({ maxId: 'b' }), ['e', 'd', 'c']);
    assert.deepEqual(page({ sinceId: 'b' }), []);
    timeline.change('b', { isDeleted: true });
    assert.deepEqual(page({ maxId: 'd' }), ['c', 'a']);
  });

  it('shows a boost in the place of its original, by either id', () => {
    const { timeline, page } = fivePosts();
    assert.equal(timeline.boost('d'), 'D');
    assert.deepEqual(page(), ['e', 'D', 'c']);
    const answers = ['d', 'D'].map((id) => timeline.byId(id));
    assert.deepEqual(
      answers.map((post) => typeof post === 'object' && [post.id, post.boostOf]),
      [
        ['D', 'd'],
        ['D', 'd'],
      ],
    );
  });

  it('loses the newest posts at once', () => {
    const { timeline, page } = fivePosts();
    assert.deepEqual(timeline.deleteNewest(3, NOW_MS), ['e', 'd', 'c']);
    assert.deepEqual(page(), ['b', 'a']);
    assert.equal(timeline.byId('d'), 'gone');
  });

  it('answers by id as the server at hand does: deleted posts as if they were there, or nobody without a token', () => {
    const { timeline } = fivePosts({ showsDeleted: true });
    timeline.change('c', { isDeleted: true });
    assert.notEqual(timeline.byId('c'), 'gone');
    assert.equal(fivePosts({ refusesById: true }).timeline.byId('c'), 'unauthorized');
  });
});

describe('a simulated server', () => {
  it('lets every request wait while it stalls', async () => {
    const clock = createVirtualClock(0);
    const stalls = { everyMs: 60_000, forMs: 5000 };
    const { upstream } = createSimulatedServer({ clock, scheme: 'opaque', pageSize: 3, isOpaque: true, stalls });
    const answeredAtMs: number[] = [];
    const note = () => answeredAtMs.push(clock.elapsedMs);
    void upstream.readPage({}).then(note);
    void upstream.fetchPosts(['a']).then(note);
    await clock.advance(30_000);
    void upstream.readPage({}).then(note);
    await clock.advance(1);
    assert.deepEqual(answeredAtMs, [5000, 5000, 30_000]);
  });

  it('tells by id of a 401, and of the post that a boost repeats', async () => {
    const clock = createVirtualClock();
    const options = { clock, scheme: 'opaque', pageSize: 3, isOpaque: true } as const;
    const server = createSimulatedServer(options);
    server.timeline.put({ id: 'a', atMs: 1, visibleAtMs: 1, text: 'words' });
    const boost = server.timeline.boost('a');
    const { posts } = await server.upstream.readPage({});
    assert.deepEqual(
      posts.map(({ upstreamId, text, repostOf }) => [upstreamId, text, repostOf?.text]),
      [[boost, '', 'words']],
    );
    const { failed } = await createSimulatedServer({ ...options, refusesById: true }).upstream.fetchPosts(['a']);
    assert.equal(failed.get('a')?.code, 'UNAUTHORIZED');
  });
});
