import { Cluster, type Redis } from 'ioredis';
import { StoreUnavailableError } from '../errors.ts';
import type { RedisScript } from './redis-script.ts';

/** The single commands that the store needs beside its scripts. */
export type RedisCommand =
  | 'del'
  | 'exists'
  | 'get'
  | 'getrange'
  | 'hdel'
  | 'hgetall'
  | 'hmget'
  | 'hset'
  | 'hsetnx'
  | 'info'
  | 'mget'
  | 'pexpire'
  | 'ping'
  | 'publish'
  | 'set'
  | 'xrange';

/** What goes to Redis: text is sent as UTF-8. */
export type RedisValue = string | number | Buffer;

/**
 * The commands of one Redis, whatever its topology, with a deadline around each. Throws StoreUnavailableError for whatever keeps
 * it from answering; what a script refuses by itself (`SLUICE …`) is a plain Error.
 */
export interface RedisConnection {
  /** Keys of several slots do not go into one command. */
  readonly isCluster: boolean;
  /** Replies hold Buffers. */
  call(command: RedisCommand, ...values: readonly RedisValue[]): Promise<unknown>;
  run(script: RedisScript, keys: readonly string[], values: readonly RedisValue[]): Promise<unknown>;
  /** Removes all keys that begin so; walks all keys there are, for an operator's call. Gives how many there were. */
  deleteAll(prefix: string): Promise<number>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

type Command = (...values: readonly RedisValue[]) => Promise<unknown>;

/** Marks the errors that our scripts give for a caller's mistake. */
const REFUSED = 'SLUICE ';

/** Wraps a client that is connected, or connecting. Commands that are sent in one turn go in one pipeline. */
export function redisConnection(client: Redis | Cluster, options: { deadlineMs: number }): RedisConnection {
  const { deadlineMs } = options;
  // Not `callBuffer`, which automatic pipelines send without its name.
  const commands = client as unknown as Record<`${RedisCommand | 'eval' | 'evalsha'}Buffer`, Command>;
  let isClosed = false;
  const underWay = new Set<Promise<unknown>>();

  async function send(work: () => Promise<unknown>): Promise<unknown> {
    if (isClosed) throw new StoreUnavailableError('the store is closed');
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
    const reply = work();
    underWay.add(reply);
    try {
      return await Promise.race([reply, late]);
    } catch (error) {
      throw failure(error);
    } finally {
      clearTimeout(timer);
      underWay.delete(reply);
    }
  }

  return {
    isCluster: client.isCluster,
    // Async, for ioredis throws at once where it knows no node of a slot.
    call: (command, ...values) => send(async () => commands[`${command}Buffer`](...values)),
    run: ({ sha1, source }, keys, values) =>
      send(async () => {
        try {
          return await commands.evalshaBuffer(sha1, keys.length, ...keys, ...values);
        } catch (error) {
          // A Redis that was restarted, or has just become the primary, does not know it.
          if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
          return commands.evalBuffer(source, keys.length, ...keys, ...values);
        }
      }),
    async deleteAll(prefix) {
      let deleted = 0;
      const nodes = client instanceof Cluster ? client.nodes('master') : [client];
      for (const node of nodes) {
        for (let cursor = '0'; ; ) {
          const [next, found] = (await send(() => node.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000))) as [
            string,
            string[],
          ];
          for (const key of found) deleted += Number(await send(() => commands.delBuffer(key)));
          cursor = next;
          if (cursor === '0') break;
        }
      }
      return deleted;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await Promise.allSettled(underWay);
      client.disconnect();
    },
  };
}

function failure(error: unknown): Error {
  const { message } = error as Error;
  const refused = message.indexOf(REFUSED);
  if (refused >= 0) return new Error(message.slice(refused + REFUSED.length).replace(/ script: [0-9a-f]{40}.*$/s, ''));
  return new StoreUnavailableError(`Redis does not answer: ${message}`, { cause: error });
}

/** Commands of one turn share a pipeline: of so many none waits for its deadline behind the others. */
const AT_ONCE = 1000;

/** What `send` gives for each, in order, for any number. */
export async function sendAll<T, R>(all: readonly T[], send: (one: T) => Promise<R>): Promise<readonly R[]> {
  const replies: R[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    replies.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(send))));
  }
  return replies;
}

/** The values of these keys, in order, undefined where there is none; any number. */
export async function getAll(
  connection: RedisConnection,
  keys: readonly string[],
): Promise<readonly (Buffer | undefined)[]> {
  const replies = connection.isCluster
    ? await sendAll(keys, (key) => connection.call('get', key))
    : (await sendAll(chunksOf(keys), (some) => connection.call('mget', ...some))).flatMap(list);
  return replies.map((value) => (Buffer.isBuffer(value) ? value : undefined));
}

function chunksOf(keys: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(keys.length / AT_ONCE);
  return Array.from({ length: count }, (_, n) => keys.slice(n * AT_ONCE, (n + 1) * AT_ONCE));
}

/** A reply that is text. */
export function text(reply: unknown): string {
  return Buffer.isBuffer(reply) ? reply.toString() : String(reply);
}

/** A reply that is a list. */
export function list(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}
