import type { PostId } from '../post.ts';
import { type FlatPost, flatten, insideIds, join, MAX_NESTING } from './nested-posts.ts';
import type { PostStore, PostWrite, StoredPost } from './post-store.ts';
import { list, type RedisConnection, sendAll, text } from './redis-connection.ts';
import { keyPart, type RedisKeys, textOfKeyPart } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const POSTS = redisScript('posts');
const PUT_POST = redisScript('put-post', 'post');

/** A body that no log shows stays so long: a feed that names it later has it read by id again. */
export const UNSHOWN_KEEP_MS = 24 * 3_600_000;

/** So many ids in one step: some milliseconds of the server's. */
const IDS_AT_ONCE = 200;

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

/** Post bodies, one key a post. */
export function redisPosts(connection: RedisConnection, keys: RedisKeys): PostStore {
  /** Each id's value, those of all posts inside among them. */
  async function readAll(parts: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    return connection.isCluster ? readInRounds(parts) : readAtOnce(parts);
  }

  async function readAtOnce(parts: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for (let at = 0; at < parts.length; at += IDS_AT_ONCE) {
      const some = parts.slice(at, at + IDS_AT_ONCE);
      const reply = list(await connection.run(POSTS, [keys.posts + some[0]], [keys.posts, MAX_NESTING, ...some]));
      for (let n = 0; n < reply.length; n += 2) found.set(text(reply[n]), reply[n + 1] as Buffer);
    }
    return found;
  }

  /** Posts of a cluster lie anywhere: one round a level. */
  async function readInRounds(parts: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    let level = parts;
    for (let depth = 0; depth <= MAX_NESTING && level.length > 0; depth++) {
      const values = await sendAll(level, (part) => connection.call('get', keys.posts + part));
      for (const [n, value] of values.entries()) {
        if (Buffer.isBuffer(value)) found.set(level[n] ?? '', value);
      }
      const inside = values.flatMap((value) => (Buffer.isBuffer(value) ? insideOf(value) : []));
      level = [...new Set(inside)].filter((part) => !found.has(part));
    }
    return found;
  }

  return {
    async getPosts(ids, { withInside = false } = {}) {
      if (ids.length === 0) await connection.call('ping');
      const values = await readAll([...new Set(ids.map(postKeyPart))]);
      const rows = new Map<string, Row | undefined>();
      const find = (part: string) => {
        if (!rows.has(part)) rows.set(part, readRow(values.get(part)));
        return rows.get(part);
      };
      const posts = new Map<PostId, StoredPost>();
      const give = (id: PostId) => {
        const row = find(postKeyPart(id));
        if (!row || posts.has(id)) return;
        const { readAtMs, shownBy } = row;
        posts.set(id, { post: join(row.flat, (inside) => find(postKeyPart(inside))?.flat), readAtMs, shownBy });
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
  };
}

interface Row {
  readonly flat: FlatPost;
  readonly readAtMs: number;
  readonly shownBy: readonly string[];
}

type Head = readonly [number, number, string, string, Readonly<Record<string, number>>];

/** @see lua/post.lua */
function readRow(value: Buffer | undefined): Row | undefined {
  if (!value) return undefined;
  const bodyAt = value.indexOf(0x0a) + 1;
  const [readAtMs, goneAtMs, repostOf, quoted, shown] = headOf(value);
  if (bodyAt === value.length || goneAtMs !== 0) return undefined;
  const logs = Object.entries(shown).flatMap(([showing, number]) => (number > 0 ? [showing.split(' ')[0] ?? ''] : []));
  return {
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

function insideOf(value: Buffer): readonly string[] {
  const [, , repostOf, quoted] = headOf(value);
  return [repostOf, quoted].filter((part) => part !== '');
}
