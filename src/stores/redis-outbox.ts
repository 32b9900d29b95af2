import type { PostId } from '../post.ts';
import { list, type RedisConnection, sendAll, text } from './redis-connection.ts';
import { keyPart, type RedisKeys } from './redis-keys.ts';
import { fieldsOf } from './redis-log-rows.ts';
import { postKeyPart, UNSHOWN_KEEP_MS } from './redis-posts.ts';
import { redisScript } from './redis-script.ts';

const PUT_POST = redisScript('put-post', 'post');
const END_SHOWING = redisScript('end-showing', 'post');
const UNMADE = redisScript('unmade', 'log');
const MADE = redisScript('made', 'bytes');

/** So many at once, for scripts and pipelines. */
export const CHANGES_AT_ONCE = 500;

/** In a cluster a post's primary may lose what the log's primary keeps: for so long it can be made again. */
export const KEPT_MS = 60_000;

/**
 * What a log's commits change in posts, which lie in other slots: the commit leaves the changes in the log's own slot, whoever
 * commits or reads next makes them, in their order, and then takes them out. A process that is killed between the two leaves them
 * to the next; made twice or late they do nothing, for each carries its number. In a cluster they are kept for a while: where a
 * failover lost a post and not the log that shows it, it is made again when the log is read.
 */
export interface Outbox {
  /** Makes all changes that are left; `first` are those that the caller was given already. */
  make(logId: string, first?: readonly unknown[]): Promise<void>;
  /** Makes again what is kept of them, where one of these posts that the log shows is not there: a failover lost it. */
  mend(logId: string, postIds: readonly PostId[]): Promise<void>;
}

export function redisOutbox(connection: RedisConnection, keys: RedisKeys): Outbox {
  const keepMs = connection.isCluster ? KEPT_MS : 0;

  async function makeOne(logPart: string, id: string, reply: unknown): Promise<void> {
    const change = fieldsOf(reply);
    const number = id.split('-')[0] ?? '';
    const showing = `${logPart} ${change.via}`;
    const key = keys.posts + change.post;
    if (change.ends !== undefined) {
      await connection.run(END_SHOWING, [key], [UNSHOWN_KEEP_MS, showing, number, change.ends]);
      return;
    }
    const { readAt = '', nested = '', repostOf = '', quoted = '', body = '' } = change;
    await connection.run(PUT_POST, [key], [UNSHOWN_KEEP_MS, readAt, nested, repostOf, quoted, body, showing, number]);
  }

  const stateKey = (logId: string) => `${keys.log(logId)}state`;
  const idOf = (change: unknown) => text(list(change)[0]);

  /** Commands of one turn keep their order on a connection, and the numbers keep it everywhere else. */
  async function makeAll(logId: string, changes: readonly unknown[]): Promise<void> {
    const logPart = keyPart(logId);
    await sendAll(changes, (change) => makeOne(logPart, idOf(change), list(change)[1]));
  }

  return {
    async make(logId, first) {
      for (let changes = first; ; changes = undefined) {
        changes ??= list(await connection.run(UNMADE, [stateKey(logId)], [CHANGES_AT_ONCE]));
        const last = changes.at(-1);
        if (last === undefined) return;
        await makeAll(logId, changes);
        await connection.run(MADE, [stateKey(logId)], [idOf(last), keepMs]);
        if (changes.length < CHANGES_AT_ONCE) return;
      }
    },
    async mend(logId, postIds) {
      const found = await sendAll(postIds, (id) => connection.call('exists', keys.posts + postKeyPart(id)));
      if (found.every((count) => count === 1)) return;
      const outbox = `${keys.log(logId)}outbox`;
      for (let from = '-'; ; ) {
        const changes = list(await connection.call('xrange', outbox, from, '+', 'COUNT', CHANGES_AT_ONCE));
        const last = changes.at(-1);
        if (last === undefined) return;
        await makeAll(logId, changes);
        from = `(${idOf(last)}`;
      }
    },
  };
}
