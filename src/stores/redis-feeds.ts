import type { EncodedPublication, FeedRecords, InstancePlace } from './feed-records.ts';
import type { InstanceHeader, Reference, SuccessorKey } from './feed-store.ts';
import { EXPIRY_AT } from './instance-codec.ts';
import { getAll, list, type RedisConnection, text } from './redis-connection.ts';
import { keyPart, type RedisKeys } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const CURRENT = redisScript('current', 'instance');
const NEWEST = redisScript('newest', 'instance');
const SUCCESSOR = redisScript('successor', 'instance');
const RENEW = redisScript('renew', 'instance');
const PUBLISH = redisScript('publish', 'instance');
const PURGE = redisScript('purge', 'instance');
const KEEP_REFERENCES = redisScript('keep-references');
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
}): FeedRecords {
  const { instances, references, keys, now } = deps;
  const keyOf = ({ viewerId, feedId }: InstancePlace) => keys.feeds(viewerId) + keyPart(feedId);

  async function publish(publication: EncodedPublication, as: readonly (string | number)[]): Promise<InstanceHeader> {
    const { viewerId, header, bytes, nowMs, ttlMs, keep } = publication;
    const prefix = keys.feeds(viewerId);
    const feedId = keyPart(header.feedId);
    const winner = await instances.run(
      PUBLISH,
      [prefix + feedId, `${prefix}current`],
      [feedId, nowMs, ttlMs, keep, bytes, prefix, ...as],
    );
    return readHeader(winner);
  }

  return {
    async current(viewerId, nowMs) {
      const prefix = keys.feeds(viewerId);
      const [alias, header, expiresAtMs] = list(await instances.run(CURRENT, [`${prefix}current`], [prefix, nowMs]));
      return {
        ...(alias !== undefined && { alias: text(alias) }),
        ...(header !== undefined && { instance: { ...readHeader(header), expiresAtMs: Number(text(expiresAtMs)) } }),
      };
    },
    async newest(viewerId, nowMs) {
      const prefix = keys.feeds(viewerId);
      return foundHeader(await instances.run(NEWEST, [`${prefix}current`], [prefix, nowMs]));
    },
    async read(place, nowMs) {
      const bytes = await instances.call('get', keyOf(place));
      const expiresAtMs = Buffer.isBuffer(bytes) ? readExpiry(bytes, EXPIRY_AT) : undefined;
      return Buffer.isBuffer(bytes) && expiresAtMs !== undefined && expiresAtMs > nowMs
        ? { bytes, expiresAtMs }
        : undefined;
    },
    async expiry(place) {
      const bytes = await instances.call('getrange', keyOf(place), EXPIRY_AT, EXPIRY_AT + EXPIRY_BYTES - 1);
      return Buffer.isBuffer(bytes) ? readExpiry(bytes, 0) : undefined;
    },
    async renew({ viewerId, feedId }, { nowMs, ttlMs, hashes }) {
      const prefix = keys.feeds(viewerId);
      const id = keyPart(feedId);
      const isNextLife = await instances.run(RENEW, [prefix + id, `${prefix}current`], [id, nowMs, ttlMs]);
      if (isNextLife !== 1) return;
      const names = hashes.map((hash) => keys.references + hash);
      await inSteps(names, (some) => references.run(KEEP_REFERENCES, some, [ttlMs, 2 * ttlMs]));
    },
    async remove(place) {
      await instances.call('del', keyOf(place));
    },
    async readReferences(hashes) {
      const values = await getAll(
        references,
        hashes.map((hash) => keys.references + hash),
      );
      return values.map(postIdOf);
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
      if (all.length === 0) await references.call('ping');
      const ttlMs = Math.max(1, Math.ceil(expiresAtMs - now()));
      const collided = await inSteps(all, (some) => put(some, ttlMs));
      return [...new Set(collided.flat())];
    },
  };

  /** One step for many where they lie together, one each in a cluster; the next many after it, so that others have their turn. */
  async function inSteps<T, R>(all: readonly T[], step: (some: readonly T[]) => Promise<R>): Promise<readonly R[]> {
    const results: R[] = [];
    for (let at = 0; at < all.length; at += REFERENCES_AT_ONCE) {
      const some = all.slice(at, at + REFERENCES_AT_ONCE);
      results.push(...(await Promise.all((references.isCluster ? some.map((one) => [one]) : [some]).map(step))));
    }
    return results;
  }

  async function put(group: readonly Reference[], ttlMs: number): Promise<readonly string[]> {
    const reply = await references.run(
      PUT_REFERENCES,
      group.map(({ hash }) => keys.references + hash),
      [ttlMs, ...group.flatMap(({ key, postId }) => [key, postId])],
    );
    const results = list(reply);
    return group.flatMap(({ hash }, n) => (results[n] === 0 ? [hash] : []));
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

const EXPIRY_BYTES = 8;

/** Undefined where there is none: GETRANGE of a key that is not there is empty. */
function readExpiry(bytes: Buffer, at: number): number | undefined {
  return bytes.length < at + EXPIRY_BYTES ? undefined : bytes.readDoubleBE(at);
}

/** @see lua/put-references.lua */
function postIdOf(value: Buffer | undefined): string | undefined {
  if (!value) return undefined;
  const colon = value.indexOf(':');
  return value[0] === 0x3d
    ? value.toString('utf8', 1)
    : value.toString('utf8', colon + 1 + Number(value.toString('latin1', 0, colon)));
}
