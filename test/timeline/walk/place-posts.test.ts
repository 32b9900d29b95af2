import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrivalOrderKey, idScheme } from '../../../src/ids/id-scheme.ts';
import type { IdSchemeName, Post } from '../../../src/post.ts';
import type { KnownEntry, KnownPost, LogState, TimelineStore } from '../../../src/stores/timeline-store.ts';
import { placePosts } from '../../../src/timeline/walk/place-posts.ts';

const NOW = 1_790_000_000_000;
const SEEN = NOW - 60_000;

/** A log that knows posts `p0` (oldest) to `p<count-1>`, all seen together, and what a listing is made of. */
function logOf(
  count: number,
  { scheme = 'opaque', missing = [] }: { scheme?: IdSchemeName; missing?: readonly number[] } = {},
) {
  const all = new Map<string, KnownEntry>();
  for (let n = 0; n < count; n += 1) {
    if (missing.includes(n)) continue;
    const entry = { upstreamId: `p${n}`, orderKey: keyOf(n), revision: '', sortAtMs: SEEN, arrivedAtMs: SEEN };
    all.set(`p${n}`, entry);
  }
  const timelines: Pick<TimelineStore, 'knownBetween'> = {
    async knownBetween({ above = '', upTo = '2', limit }) {
      const found = [...all].map(([postId, { upstreamId, orderKey }]): KnownPost => ({ postId, upstreamId, orderKey }));
      const between = found.filter(({ orderKey }) => orderKey > above && orderKey <= upTo);
      return between.toSorted((a, b) => (a.orderKey < b.orderKey ? 1 : -1)).slice(0, limit);
    },
  };
  const top = [...all.values()].at(-1);
  const state: LogState = {
    version: 1,
    gaps: [],
    counts: { posts: count, requests: 0, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0, gaps: 0 },
    ...(top && { watermark: { upstreamId: top.upstreamId, orderKey: top.orderKey }, floorKey: keyOf(0) }),
  };
  /** Newest first, as the server lists them. */
  const place = (
    listed: readonly string[],
    more: { topKey?: string; listed?: ReadonlySet<string>; nowMs?: number } = {},
  ) =>
    placePosts({
      ...{ posts: listed.map(postOf), known: new Map([...all].filter(([id]) => listed.includes(id))) },
      ...{ state, scheme: idScheme(scheme), timelines, logId: 'log', nowMs: NOW, ...more },
    });
  return { place };
}

function keyOf(n: number): string {
  return arrivalOrderKey(SEEN, n);
}

function postOf(id: string): Post {
  return { id, upstreamId: id } as Post;
}

/** `p<from>` down to `p<to>`. */
const known = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => `p${from - n}`);
const fresh = (count: number, name = 'new') => Array.from({ length: count }, (_, n) => `${name}${n}`);

/** The listing's order is that of the keys. */
function assertFalling(keys: ReadonlyMap<string, string>, listed: readonly string[]): void {
  const own = listed.map((id) => keys.get(id) ?? '');
  assert.deepEqual(own, own.toSorted().reverse());
  assert.equal(new Set(own).size, own.length);
}

describe('posts without an order in their ids', () => {
  it('stand at the top by arrival when they are listed above all that is known', async () => {
    const listed = [...fresh(3), ...known(9, 5)];
    const { keys, moved, lowestKey, sureKey } = await logOf(10).place(listed);
    assertFalling(keys, listed);
    assert.ok(idScheme('opaque').keyTimeMs(keys.get('new2') ?? '') === NOW);
    assert.deepEqual([moved, lowestKey, sureKey], [[], keyOf(5), keyOf(5)]);
  });

  it('stand between those that are listed beside them when they are late', async () => {
    const listed = [...known(9, 7), ...fresh(2), ...known(6, 3)];
    const { keys, moved } = await logOf(10).place(listed);
    assertFalling(keys, listed);
    assert.deepEqual(moved, []);
  });

  it('stand below the page before when they begin a page', async () => {
    const listed = [...fresh(2), ...known(6, 0)];
    const { keys } = await logOf(10).place(listed, { topKey: keyOf(7) });
    assertFalling(keys, listed);
    assert.ok((keys.get('new0') ?? '') < keyOf(7));
  });

  it('stand above what is known below the page when they end it', async () => {
    const listed = [...known(9, 5), ...fresh(2)];
    const { keys, sureKey } = await logOf(10).place(listed);
    assertFalling(keys, listed);
    assert.ok((keys.get('new1') ?? '') > keyOf(4));
    assert.equal(sureKey, undefined, 'what is below them is not known to be known');
  });

  it('have no place below the beginning of history', async () => {
    const listed = [...known(9, 0), ...fresh(2)];
    const { keys, lowestKey } = await logOf(10).place(listed);
    assert.deepEqual([keys.has('new0'), keys.has('new1'), lowestKey], [false, false, keyOf(0)]);
  });

  it('all get a place by arrival where nothing is known', async () => {
    const listed = fresh(5);
    const { keys, lowestKey, sureKey } = await logOf(0).place(listed);
    assertFalling(keys, listed);
    assert.deepEqual([lowestKey, sureKey], [keys.get('new4'), undefined]);
  });

  it('stand above the watermark though the clock was set back', async () => {
    const { keys } = await logOf(10).place([...fresh(1), ...known(9, 5)], { nowMs: SEEN - 3_600_000 });
    assert.ok((keys.get('new0') ?? '') > keyOf(9));
  });
});

describe('known posts that are listed again higher up', () => {
  for (const count of [1, 2, 3, 9]) {
    it(`tell nothing where ${count} of them end a page, in their order, and what the log has above them was not listed`, async () => {
      const { sureKey, moved, keys } = await logOf(40).place([...fresh(15), ...known(20, 21 - count)]);
      assert.deepEqual([sureKey, moved], [undefined, []]);
      assert.ok((keys.get('new14') ?? '') > keyOf(39), 'what is new is not put beside them');
    });
  }

  it('get the place where they are listed, once the listing comes down to what is known', async () => {
    const listed = [...fresh(3), 'p5', ...fresh(2, 'other'), ...known(39, 25)];
    const { keys, moved, sureKey } = await logOf(40).place(listed);
    assertFalling(keys, listed);
    assert.deepEqual(moved, [{ postId: 'p5', orderKey: keys.get('p5') }]);
    assert.equal(sureKey, keyOf(25));
  });

  it('keep it once they have it', async () => {
    const { moved } = await logOf(40).place(known(39, 20));
    assert.deepEqual(moved, []);
  });

  it('tell nothing at the end of a page that began below what is known', async () => {
    const { sureKey } = await logOf(40).place([...fresh(15), 'p0'], { topKey: keyOf(30) });
    assert.equal(sureKey, undefined);
  });

  it('are no reason to move others where nothing is sure', async () => {
    const { moved } = await logOf(40).place(['p3', 'p17', 'p8', ...fresh(10), 'p20', 'p11']);
    assert.deepEqual(moved, []);
  });
});

describe('known posts that stand where they stood', () => {
  it('tell where a listing stands from three on, below what the walk has listed', async () => {
    const listed = new Set([...known(39, 20), ...fresh(20), ...known(19, 17)]);
    const below = [...fresh(17), ...known(19, 17)];
    const { sureKey } = await logOf(40).place(below, { listed });
    assert.equal(sureKey, keyOf(17));
    assert.equal((await logOf(40).place([...fresh(18), 'p19', 'p18'], { listed })).sureKey, undefined);
  });

  it('tell it although some between them were deleted', async () => {
    const { sureKey } = await logOf(40).place([...fresh(2), 'p38', 'p35', 'p34', 'p31', 'p30']);
    assert.equal(sureKey, keyOf(30));
  });

  it('tell it below thousands that were deleted, where they are many in a row, or a whole page', async () => {
    const log = logOf(4000);
    assert.equal((await log.place([...fresh(5), ...known(999, 990)])).sureKey, keyOf(990));
    assert.equal((await log.place(known(999, 996))).sureKey, keyOf(996));
    assert.equal((await log.place([...fresh(5), ...known(999, 996)])).sureKey, undefined);
  });

  it('are fewer than three where the log holds no more', async () => {
    assert.equal((await logOf(1).place([...fresh(2), 'p0'])).sureKey, keyOf(0));
  });
});

describe('ids with an order', () => {
  it('place themselves', async () => {
    const scheme = idScheme('mastodon');
    const ids = [NOW, NOW - 5].map((ms) => String(BigInt(ms) << 16n));
    const { keys, moved, sureKey } = await logOf(0, { scheme: 'mastodon' }).place(ids);
    assert.deepEqual([...keys.values()].toSorted(), ids.map(scheme.orderKey).toSorted());
    assert.deepEqual([moved, sureKey], [[], undefined]);
  });

  it('place what has none beside them', async () => {
    const scheme = idScheme('mastodon');
    const [high = '', low = ''] = [NOW, NOW - 5].map((ms) => String(BigInt(ms) << 16n));
    const listed = ['foreign-a', high, 'foreign-b', 'foreign-c', low];
    const { keys, moved } = await logOf(0, { scheme: 'mastodon' }).place(listed);
    assertFalling(keys, listed.slice(1));
    assert.equal(keys.get(low), scheme.orderKey(low));
    assert.ok((keys.get('foreign-a') ?? '') > scheme.orderKey(high));
    assert.equal(scheme.keyTimeMs(keys.get('foreign-a') ?? ''), NOW);
    assert.deepEqual(moved, []);
  });
});
