import { LRUCache } from 'lru-cache';
import type { PostId } from '../post.ts';
import { type FlatPost, flatten, insideIds, join, MAX_NESTING } from './nested-posts.ts';
import type { PostStore, PostWrite, StoredPost } from './post-store.ts';
import { getAll, type RedisConnection } from './redis-connection.ts';
import { keyPart, type RedisKeys, textOfKeyPart } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const PUT_POST = redisScript('put-post', 'post');

/** A body that no log shows stays so long: a feed that names it later has it read by id again. */
export const UNSHOWN_KEEP_MS = 24 * 3_600_000;

/** Of posts that stay decoded, with what they were decoded from: about 10,000 usual ones. */
const MAX_CACHED_BYTES = 48_000_000;
/** What nobody asks for leaves the process after so long, as it may have been forgotten in the store. */
const UNUSED_MS = 600_000;

/** A body as it goes into `lua/put-post.lua`: readAtMs, whether nested, what it reposts, what it quotes, the rest. */
export type PostValues = readonly [number, 0 | 1, string, string, string];

/** Ids as Redis gives them back. */
export function postKeyPart(id: PostId): string {
  return keyPart(id.toWellFormed());
}

/** What one write comes to: the post, then those inside it, each with its id's key part. */
export function postValues({ post, readAtMs }: PostWrite): readonly { part: string; values: PostValues }[] {
  return flatten(post).map(({ repostOf, quoted, ...body }, place) => ({
    part: postKeyPart(body.id),
    values: [readAtMs, place > 0 ? 1 : 0, partOf(repostOf), partOf(quoted), JSON.stringify(body)],
  }));
}

function partOf(id: PostId | undefined): string {
  return id === undefined ? '' : postKeyPart(id);
}

/**
 * Post bodies, one key a post. What was read stays decoded in the process and is taken again while Redis holds the very same
 * bytes: every read asks Redis, so that edits, removals and who showed a post are those of this moment.
 */
export function redisPosts(connection: RedisConnection, keys: RedisKeys): PostStore & { forgetUnused(): void } {
  const cache = new LRUCache<string, Cached>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ value }) => 1000 + 3 * value.length,
    ttl: UNUSED_MS,
    ttlResolution: 1000,
    updateAgeOnGet: true,
  });

  /** The rows of these posts, and of all inside: what is inside as it was last known is asked for at once, the rest a round a level. */
  async function readAll(parts: readonly string[]): Promise<ReadonlyMap<string, Row | undefined>> {
    const rows = new Map<string, Row | undefined>();
    let wanted = withInside(parts, (part) => cache.peek(part)?.row);
    for (let round = 0; round <= MAX_NESTING && wanted.length > 0; round++) {
      const values = await getAll(
        connection,
        wanted.map((part) => keys.posts + part),
      );
      for (const [n, part] of wanted.entries()) rows.set(part, decode(part, values[n]));
      wanted = withInside(wanted, (part) => rows.get(part)).filter((part) => !rows.has(part));
    }
    return rows;
  }

  function decode(part: string, value: Buffer | undefined): Row | undefined {
    const cached = cache.get(part);
    if (!value) {
      cache.delete(part);
      return undefined;
    }
    if (cached?.value.equals(value)) return cached.row;
    const row = readRow(value);
    // A copy: the reply's Buffer may be part of a larger one, which it would keep.
    cache.set(part, { value: Buffer.from(value), row });
    return row;
  }

  return {
    async getPosts(ids, { withInside = false } = {}) {
      if (ids.length === 0) await connection.call('ping');
      const rows = await readAll(ids.map(postKeyPart));
      const posts = new Map<PostId, StoredPost>();
      const give = (id: PostId) => {
        const row = posts.has(id) ? undefined : rows.get(postKeyPart(id));
        if (!row) return;
        const { readAtMs, shownBy } = row;
        posts.set(id, { post: join(row.flat, (inside) => rows.get(postKeyPart(inside))?.flat), readAtMs, shownBy });
      };
      for (const id of ids) give(id);
      const asked = withInside ? [...posts.values()] : [];
      for (const { post } of asked) for (const id of insideIds(post)) give(id);
      return posts;
    },
    async putPosts(writes) {
      if (writes.length === 0) await connection.call('ping');
      // One after the other where they name one post: commands of one turn keep their order.
      await Promise.all(
        writes
          .flatMap(postValues)
          .map(({ part, values }) => connection.run(PUT_POST, [keys.posts + part], [UNSHOWN_KEEP_MS, ...values])),
      );
    },
    forgetUnused: () => cache.purgeStale(),
  };
}

/** A value of Redis, and the post that it holds: undefined where its body is gone. */
interface Cached {
  readonly value: Buffer;
  readonly row: Row | undefined;
}

interface Row {
  /** The posts right inside, by their key parts. */
  readonly inside: readonly string[];
  readonly flat: FlatPost;
  readonly readAtMs: number;
  readonly shownBy: readonly string[];
}

type Head = readonly [number, number, string, string, Readonly<Record<string, number>>];

/** @see lua/post.lua */
function readRow(value: Buffer): Row | undefined {
  const bodyAt = value.indexOf(0x0a) + 1;
  const [readAtMs, goneAtMs, repostOf, quoted, shown] = headOf(value);
  if (bodyAt === value.length || goneAtMs !== 0) return undefined;
  const logs = Object.entries(shown).flatMap(([showing, number]) => (number > 0 ? [showing.split(' ')[0] ?? ''] : []));
  return {
    inside: [repostOf, quoted].filter((part) => part !== ''),
    flat: {
      ...JSON.parse(value.toString('utf8', bodyAt)),
      ...(repostOf !== '' && { repostOf: textOfKeyPart(repostOf) }),
      ...(quoted !== '' && { quoted: textOfKeyPart(quoted) }),
    },
    readAtMs,
    shownBy: [...new Set(logs)].map(textOfKeyPart).sort(),
  };
}

function headOf(value: Buffer): Head {
  return JSON.parse(value.toString('utf8', 0, value.indexOf(0x0a))) as Head;
}

/** These, and those inside them as far as they are known, each once. */
function withInside(parts: readonly string[], find: (part: string) => Row | undefined): readonly string[] {
  const all = new Set(parts);
  let level = parts;
  for (let depth = 0; depth < MAX_NESTING && level.length > 0; depth++) {
    level = level.flatMap((part) => find(part)?.inside ?? []).filter((part) => !all.has(part));
    for (const part of level) all.add(part);
  }
  return [...all];
}
