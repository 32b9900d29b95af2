import type { Cluster, Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';
import type { Signals } from './store.ts';

/** Signals over one channel; `subscriber` is a connection of its own, which Redis demands, and subscribes again by itself. */
export function redisSignals(connection: RedisConnection, subscriber: Redis | Cluster, channel: string): Signals {
  const listeners = new Set<(name: string) => void>();
  subscriber.on('message', (_, name: string) => {
    for (const listener of listeners) listener(name);
  });
  return {
    async send(name) {
      await connection.call('publish', channel, name);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
