import { list, type RedisConnection, text } from './redis-connection.ts';
import { keyPart, type RedisKeys } from './redis-keys.ts';
import { fieldsOf } from './redis-log-rows.ts';
import { UNSHOWN_KEEP_MS } from './redis-posts.ts';
import { redisScript } from './redis-script.ts';

const PUT_POST = redisScript('put-post', 'post');
const END_SHOWING = redisScript('end-showing', 'post');

const CHANGES_AT_ONCE = 500;

/**
 * What a log's commits change in posts, which lie in other slots: the commit leaves the changes in the log's own slot, whoever
 * commits or reads next makes them, in their order, and then takes them out. A process that is killed between the two leaves them
 * to the next; made twice or late they do nothing, for each carries its number.
 */
export interface Outbox {
  /** Makes all changes that are left; `first` are those that the caller was given already. */
  make(logId: string, first?: readonly unknown[]): Promise<void>;
}

export function redisOutbox(connection: RedisConnection, keys: RedisKeys): Outbox {
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

  return {
    async make(logId, first) {
      const outbox = `${keys.log(logId)}outbox`;
      let changes = first;
      do {
        changes ??= list(await connection.call('xrange', outbox, '-', '+', 'COUNT', CHANGES_AT_ONCE));
        const ids = changes.map((change) => text(list(change)[0]));
        // Commands of one turn keep their order on a connection, and the numbers keep it everywhere else.
        await Promise.all(changes.map((change, n) => makeOne(keyPart(logId), ids[n] ?? '', list(change)[1])));
        if (ids.length > 0) await connection.call('xdel', outbox, ...ids);
        const isAll = ids.length < CHANGES_AT_ONCE;
        changes = isAll ? [] : undefined;
      } while (changes === undefined);
    },
  };
}
