import { freePort, type RedisServer, startRedis } from '../redis-server.ts';
import { until } from './until.ts';

const NAME = 'sluice';
const QUORUM = 2;

/** A primary, its replica, and three sentinels that watch them, on loopback. */
export interface SentinelSetup {
  readonly spec: {
    readonly kind: 'sentinel';
    readonly name: string;
    readonly sentinels: readonly { host: string; port: number }[];
  };
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  stop(): Promise<void>;
}

/** Resolves when the replica has copied and the sentinels know it and each other: they replace a primary that is gone after about 2 s. */
export async function startSentinels(): Promise<SentinelSetup> {
  const args = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
  const primary = await startRedis({ args });
  const replica = await startRedis({ args: [...args, '--replicaof', '127.0.0.1', `${primary.port}`] });
  await until('it has copied', async () => /master_link_status:up/.test(await replica.client.info('replication')));
  const sentinels = await Promise.all(Array.from({ length: 3 }, () => startSentinel(primary)));
  for (const { client } of sentinels) {
    await until('the sentinels know each other', async () =>
      /slaves=1,sentinels=3/.test(await client.info('sentinel')),
    );
  }
  const all = [...sentinels, replica, primary];
  return {
    spec: { kind: 'sentinel', name: NAME, sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })) },
    primary,
    replica,
    async stop() {
      await Promise.all(all.map((server) => server.kill()));
      await Promise.all(all.map((server) => server.stop()));
    },
  };
}

async function startSentinel(primary: RedisServer): Promise<RedisServer> {
  const lines = [
    `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 3000`,
  ];
  return startRedis({ port: await freePort(), sentinel: lines });
}
