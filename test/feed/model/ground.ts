import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { PostId } from '../../../src/post.ts';
import { decodeInstance } from '../../../src/stores/instance-codec.ts';
import { openStore } from '../../../src/stores/registry.ts';
import type { Store } from '../../../src/stores/store.ts';
import { startRedis } from '../../redis-server.ts';
import { manualClock } from '../fixture.ts';
import type { ManualClock } from './reader.ts';

/** What several gateways share, and what may befall it behind their backs. */
export interface Ground {
  readonly clock: ManualClock;
  /** One a gateway. */
  readonly stores: readonly Store[];
  /** Lets one thing go that is kept for this viewer: an instance, or the alias; true when the list of those that live went with it. */
  evict(viewerId: string, which: number): Promise<boolean>;
  /** Lets go of every so many-th of what hashes name, for all viewers. */
  loseReferences(every: number): Promise<void>;
  /** Forgets this viewer, and what hashes name, as a store does that was lost. */
  lose(viewerId: string): Promise<void>;
  /** All that is kept for this viewer, to be put back as a failover does that lost all that came after. */
  dump(viewerId: string): Promise<Dump>;
  restore(viewerId: string, dump: Dump): Promise<void>;
  /** Puts only the alias back. */
  restoreAlias(viewerId: string, dump: Dump): Promise<void>;
  /** What is written of an instance, read by nobody's store; a post id is undefined where it was lost. */
  items(viewerId: string, feedId: string): Promise<readonly Written[]>;
  /** The feedIds of what is kept for this viewer, expired ones among them. */
  instances(viewerId: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Written {
  readonly hash: string;
  readonly postId: PostId | undefined;
}

/** What a ground gave, opaque to others. */
export interface Dump {
  readonly rows: readonly unknown[];
}

/** Nobody waits for anybody: who would sleep looks again at once. */
function hastyClock(): ManualClock {
  return { ...manualClock(), sleep: () => new Promise((resolve) => void setImmediate(resolve)) };
}

const GATEWAYS = 3;

async function openMany(spec: string, clock: ManualClock): Promise<readonly Store[]> {
  return Promise.all(Array.from({ length: GATEWAYS }, () => openStore(spec, { clock })));
}

interface Key {
  readonly key: string;
  readonly value: Buffer;
  readonly ttlMs: number;
  /** What `current` has as its alias. */
  readonly alias: { readonly member: string; readonly score: number } | undefined;
}

/** A real redis-server. */
export async function redisGround(): Promise<Ground> {
  const redis = await startRedis();
  const clock = hastyClock();
  const stores = await openMany(redis.url, clock);
  const { client } = redis;
  const keysOf = async (viewerId: string) => (await client.keys(`{${viewerId}}:HOMEPAGE:*`)).sort();
  const aliasOf = async (key: string): Promise<Key['alias']> => {
    if (!key.endsWith(':current')) return undefined;
    const members = await client.zrangebyscore(key, '-inf', '+inf', 'WITHSCORES');
    const at = members.findIndex((member) => member.startsWith('='));
    return at < 0 ? undefined : { member: members[at] ?? '', score: Number(members[at + 1]) };
  };
  const read = async (key: string): Promise<Key[]> => {
    const [value, ttlMs] = [await client.dumpBuffer(key), await client.pttl(key)];
    return value ? [{ key, value, ttlMs, alias: await aliasOf(key) }] : [];
  };
  const write = async ({ key, value, ttlMs }: Key) =>
    void (await client.restore(key, Math.max(1, ttlMs), value, 'REPLACE'));
  return {
    clock,
    stores,
    async evict(viewerId, which) {
      const keys = await keysOf(viewerId);
      const key = keys[which % Math.max(1, keys.length)];
      if (key !== undefined) await client.del(key);
      return key?.endsWith(':current') ?? false;
    },
    loseReferences: async (every) => {
      const keys = (await client.keys('post:*')).sort().filter((_, n) => n % every === 0);
      if (keys.length > 0) await client.del(...keys);
    },
    async lose(viewerId) {
      const keys = [...(await keysOf(viewerId)), ...(await client.keys('post:*'))];
      if (keys.length > 0) await client.del(...keys);
    },
    dump: async (viewerId) => ({ rows: (await Promise.all((await keysOf(viewerId)).map(read))).flat() }),
    async restore(viewerId, { rows }) {
      const keys = await keysOf(viewerId);
      if (keys.length > 0) await client.del(...keys);
      for (const row of rows as readonly Key[]) await write(row);
    },
    async restoreAlias(viewerId, { rows }) {
      const old = (rows as readonly Key[]).flatMap(({ alias }) => alias ?? []);
      const key = `{${viewerId}}:HOMEPAGE:current`;
      const present = await aliasOf(key);
      if (present) await client.zrem(key, present.member);
      for (const { member, score } of old) await client.zadd(key, score, member);
      if (old.length > 0) await client.pexpire(key, 3_600_000);
    },
    async items(viewerId, feedId) {
      const hashes = hashesOf(await client.getBuffer(`{${viewerId}}:HOMEPAGE:${feedId}`));
      if (hashes.length === 0) return [];
      const values = await client.mget(hashes.map((hash) => `post:${hash}`));
      return hashes.map((hash, n) => ({ hash, postId: values[n]?.slice(1) }));
    },
    instances: async (viewerId) =>
      (await keysOf(viewerId)).map((key) => key.slice(key.lastIndexOf(':') + 1)).filter((name) => name !== 'current'),
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await redis.stop();
    },
  };
}

function hashesOf(bytes: Uint8Array | null): readonly string[] {
  const instance = bytes && decodeInstance(bytes);
  return instance ? instance.items(0, instance.size).map(({ hash }) => hash) : [];
}

type Row = Readonly<Record<string, SQLInputValue>>;

/** One SQLite file that all gateways have open. */
export async function sqliteGround(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-model-'));
  const file = join(folder, 'feeds.db');
  const clock = hastyClock();
  const stores = await openMany(`sqlite:${file}`, clock);
  const backdoor = new DatabaseSync(file);
  const rowsOf = (table: string, viewerId: string) =>
    backdoor.prepare(`SELECT * FROM ${table} WHERE viewer = ?`).all(JSON.stringify(viewerId)) as Row[];
  const write = (table: string, row: Row) => {
    const names = Object.keys(row);
    const text = `INSERT OR REPLACE INTO ${table} (${names}) VALUES (${names.map(() => '?')})`;
    backdoor.prepare(text).run(...Object.values(row));
  };
  const clear = (table: string, viewerId: string) =>
    backdoor.prepare(`DELETE FROM ${table} WHERE viewer = ?`).run(JSON.stringify(viewerId));
  return {
    clock,
    stores,
    async evict(viewerId, which) {
      const rows = rowsOf('instances', viewerId);
      const row = rows[which % (rows.length + 1)];
      if (row) backdoor.prepare('DELETE FROM instances WHERE feed_id = ?').run(row.feed_id ?? null);
      else clear('aliases', viewerId);
      return false;
    },
    async loseReferences(every) {
      const rows = backdoor.prepare('SELECT hash FROM story_references ORDER BY hash').all() as Row[];
      const lose = backdoor.prepare('DELETE FROM story_references WHERE hash = ?');
      for (const { hash = null } of rows.filter((_, n) => n % every === 0)) lose.run(hash);
    },
    async lose(viewerId) {
      for (const table of ['instances', 'aliases']) clear(table, viewerId);
      backdoor.exec('DELETE FROM story_references');
    },
    dump: async (viewerId) => ({ rows: [rowsOf('instances', viewerId), rowsOf('aliases', viewerId)] }),
    async restore(viewerId, { rows: [instances, aliases] }) {
      for (const table of ['instances', 'aliases']) clear(table, viewerId);
      for (const row of instances as Row[]) write('instances', row);
      for (const row of aliases as Row[]) write('aliases', row);
    },
    async restoreAlias(viewerId, { rows: [, aliases] }) {
      clear('aliases', viewerId);
      for (const row of aliases as Row[]) write('aliases', row);
    },
    async items(_viewerId, feedId) {
      const { body } = backdoor.prepare('SELECT body FROM instances WHERE feed_id = ?').get(feedId) ?? {};
      const find = backdoor.prepare('SELECT post_id FROM story_references WHERE hash = ?');
      return hashesOf(body instanceof Uint8Array ? body : null).map((hash) => {
        const id = find.get(hash)?.post_id;
        return { hash, postId: typeof id === 'string' ? id : undefined };
      });
    },
    instances: async (viewerId) => rowsOf('instances', viewerId).map((row) => String(row.feed_id)),
    async close() {
      backdoor.close();
      await Promise.all(stores.map((store) => store.close()));
      rmSync(folder, { recursive: true });
    },
  };
}
