import type { NamedLog } from './log-registry.ts';
import { type RedisConnection, sendAll } from './redis-connection.ts';
import { keyPart, type RedisKeys, textOfKeyPart } from './redis-keys.ts';
import { fieldsOf } from './redis-log-rows.ts';

/** The logs that there are: a hash from key parts of log ids to when they were named last, empty for never. */
export interface RedisLogRegistry {
  name(logIds: readonly string[], nowMs: number): Promise<void>;
  list(): Promise<readonly NamedLog[]>;
  /** Makes a log known that holds something: one command in a process's life, until `forget`. */
  enter(logId: string): Promise<void>;
  /** Another process may have taken it out. */
  forget(logId: string): void;
  /** True when it was known. */
  remove(logId: string): Promise<boolean>;
}

export function redisLogRegistry(connection: RedisConnection, { logs }: RedisKeys): RedisLogRegistry {
  const entered = new Set<string>();
  return {
    async name(logIds, nowMs) {
      await sendAll(logIds, (logId) => connection.call('hset', logs, keyPart(logId), nowMs));
      for (const logId of logIds) entered.add(logId);
    },
    async list() {
      const fields = fieldsOf(await connection.call('hgetall', logs));
      return Object.entries(fields).map(([part, namedAt]) => {
        const logId = textOfKeyPart(part);
        return namedAt === '' ? { logId } : { logId, namedAtMs: Number(namedAt) };
      });
    },
    async enter(logId) {
      if (entered.has(logId)) return;
      await connection.call('hsetnx', logs, keyPart(logId), '');
      entered.add(logId);
    },
    forget: (logId) => entered.delete(logId),
    async remove(logId) {
      entered.delete(logId);
      return (await connection.call('hdel', logs, keyPart(logId))) === 1;
    },
  };
}
