import { StoreUnavailableError } from '../errors.ts';
import type { FeedStore, InstanceCut, InstanceHeader, Publication, Reference, SuccessorKey } from './feed-store.ts';
import { decodeInstance, encodeInstance } from './instance-codec.ts';
import { list, type RedisConnection, sendAll, text } from './redis-connection.ts';
import { keyPart, type RedisKeys } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const CURRENT = redisScript('current', 'instance', 'cutting');
const NEWEST = redisScript('newest', 'instance');
const SUCCESSOR = redisScript('successor', 'instance');
const CUT = redisScript('cut', 'instance', 'cutting');
const PUBLISH = redisScript('publish', 'instance');
const PURGE = redisScript('purge', 'instance');
const PUT_REFERENCES = redisScript('put-references');

/** Not all at once, so that others have their turn. */
const REFERENCES_AT_ONCE = 1000;

/**
 * Feed instances in `instances`, one slot a viewer; what their hashes name in `references`, which may be another Redis: instances
 * may be evicted, references must not be. `now` is the time from which references count theirs.
 */
export function redisFeeds(deps: {
  instances: RedisConnection;
  references: RedisConnection;
  keys: RedisKeys;
  now: () => number;
}): FeedStore {
  const { instances, references, keys, now } = deps;
  /** On one Redis a script reads both at once; where they lie apart it cannot. */
  const referencesFrom = instances === references && !instances.isCluster ? keys.references : '';

  async function publish(publication: Publication, as: readonly (string | number)[]): Promise<InstanceHeader> {
    const { viewerId, instance, nowMs, ttlMs, keep } = publication;
    const prefix = keys.feeds(viewerId);
    const feedId = keyPart(instance.feedId);
    const bytes = encodeInstance(instance, nowMs + ttlMs);
    const winner = await instances.run(
      PUBLISH,
      [prefix + feedId, `${prefix}current`],
      [feedId, nowMs, ttlMs, keep, bytes, prefix, referencesFrom, ...as],
    );
    if (referencesFrom === '')
      await keepReferences(
        instance.items.map(({ hash }) => hash),
        ttlMs,
      );
    return readHeader(winner);
  }

  async function keepReferences(hashes: readonly string[], ttlMs: number): Promise<void> {
    await sendAll(hashes, (hash) => references.call('pexpire', keys.references + hash, 2 * ttlMs, 'GT'));
  }

  async function readReferences(hashes: readonly string[]): Promise<readonly unknown[]> {
    return sendAll(hashes, (hash) => references.call('get', keys.references + hash));
  }

  async function readCut(reply: unknown, ttlMs: number): Promise<InstanceCut | undefined> {
    const [header, slice, named, all, earlier] = list(reply);
    if (header === undefined) return undefined;
    const { items } = decoded(slice as Buffer);
    if (referencesFrom === '') await keepReferences(hashesOf(all as Buffer), ttlMs);
    const values = referencesFrom === '' ? await readReferences(items.map(({ hash }) => hash)) : list(named);
    return {
      ...readHeader(header),
      earlierHashes: earlier as Buffer,
      items: items.map((item, n) => {
        const postId = postIdOf(values[n]);
        return postId === undefined ? item : { ...item, postId };
      }),
    } satisfies InstanceCut;
  }

  return {
    async current(viewerId, nowMs, first) {
      const prefix = keys.feeds(viewerId);
      const values = [prefix, nowMs, ...(first ? [first.ttlMs, first.count, referencesFrom] : [])];
      const reply = await instances.run(CURRENT, [`${prefix}current`], values);
      const [alias, instance, page] = list(reply);
      const cut = first && (await readCut(page, first.ttlMs));
      return {
        ...(alias !== undefined && { alias: text(alias) }),
        ...(instance !== undefined && { instance: readHeader(instance) }),
        ...(cut && { cut }),
      };
    },
    async newest(viewerId, nowMs) {
      const prefix = keys.feeds(viewerId);
      return foundHeader(await instances.run(NEWEST, [`${prefix}current`], [prefix, nowMs]));
    },
    async cut({ viewerId, feedId, offset, count, hashesFrom, nowMs, ttlMs }) {
      const prefix = keys.feeds(viewerId);
      const id = keyPart(feedId);
      const reply = await instances.run(
        CUT,
        [prefix + id, `${prefix}current`],
        [id, nowMs, ttlMs, offset, count, referencesFrom, hashesFrom ?? ''],
      );
      return readCut(reply, ttlMs);
    },
    publish: ({ replaces, aliasTtlMs, ...publication }) =>
      publish(publication, ['alias', aliasTtlMs, replaces === undefined ? '' : keyPart(replaces)]),
    publishSuccessor: ({ of, ...publication }) => publish(publication, ['successor', successorMark(of)]),
    async successor(viewerId, of, nowMs) {
      const prefix = keys.feeds(viewerId);
      return foundHeader(await instances.run(SUCCESSOR, [`${prefix}current`], [prefix, nowMs, successorMark(of)]));
    },
    async purge(viewerId) {
      const prefix = keys.feeds(viewerId);
      const removed = Number(await instances.run(PURGE, [`${prefix}current`], [prefix]));
      // Where `current` was evicted, instances may be left that it does not name.
      return removed + (await instances.deleteAll(prefix));
    },
    async putReferences(all, expiresAtMs) {
      const collided = new Set<string>();
      for (let at = 0; at === 0 || at < all.length; at += REFERENCES_AT_ONCE) {
        const some = all.slice(at, at + REFERENCES_AT_ONCE);
        if (some.length === 0) await references.call('ping');
        const results = await put(some, Math.max(1, Math.ceil(expiresAtMs - now())));
        for (const [n, { hash }] of some.entries()) if (results[n] === 0) collided.add(hash);
      }
      return [...collided];
    },
  };

  /** One step for all where they lie together, one each in a cluster. */
  async function put(some: readonly Reference[], ttlMs: number): Promise<readonly unknown[]> {
    const groups = references.isCluster
      ? some.map((reference) => [reference])
      : [some].filter(({ length }) => length > 0);
    const replies = await Promise.all(
      groups.map((group) =>
        references.run(
          PUT_REFERENCES,
          group.map(({ hash }) => keys.references + hash),
          [ttlMs, ...group.flatMap(({ key, postId }) => [key, postId])],
        ),
      ),
    );
    return replies.flatMap(list);
  }
}

function successorMark({ feedId, offset }: SuccessorKey): string {
  return `>${keyPart(feedId)}:${offset}`;
}

function foundHeader(reply: unknown): InstanceHeader | undefined {
  return reply === null ? undefined : readHeader(reply);
}

function readHeader(reply: unknown): InstanceHeader {
  const [feedId, generatedAtMs, size] = list(reply);
  return { feedId: text(feedId), generatedAtMs: Number(text(generatedAtMs)), size: Number(size) };
}

/** @see lua/put-references.lua */
function postIdOf(value: unknown): string | undefined {
  if (!Buffer.isBuffer(value)) return undefined;
  const colon = value.indexOf(':');
  return value[0] === 0x3d
    ? value.toString('utf8', 1)
    : value.toString('utf8', colon + 1 + Number(value.toString('latin1', 0, colon)));
}

function hashesOf(bytes: Buffer): readonly string[] {
  return Array.from({ length: bytes.length / 8 }, (_, n) => bytes.toString('hex', 8 * n, 8 * n + 8));
}

function decoded(bytes: Buffer) {
  try {
    return decodeInstance(bytes);
  } catch (cause) {
    throw new StoreUnavailableError('the store holds an instance that cannot be read', { cause });
  }
}
