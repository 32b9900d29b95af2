import { freePort, type RedisServer, startRedis } from '../redis-server.ts';
import { until } from './until.ts';

const SLOTS = 16_384;
const SHARDS = 3;

/** A real Redis Cluster on loopback: 3 primaries, each with a replica. */
export interface RedisCluster {
  readonly spec: { readonly kind: 'cluster'; readonly nodes: readonly { host: string; port: number }[] };
  primaries(): Promise<readonly RedisServer[]>;
  /** Who has this key now, and who copies from it: nobody after a failover. */
  shardOf(key: string): Promise<Shard>;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export interface Shard {
  readonly primary: RedisServer;
  readonly replica: RedisServer | undefined;
}

interface Range extends Shard {
  readonly first: number;
  readonly last: number;
}

/** Resolves when all slots are served, and all replicas have copied. A primary that is gone is replaced after about 2 s. */
export async function startCluster(): Promise<RedisCluster> {
  const servers = await Promise.all(Array.from({ length: 2 * SHARDS }, startNode));
  const byPort = new Map(servers.map(({ server }) => [server.port, server]));
  const alive = () => servers.find(({ server }) => server.client.status === 'ready')?.server;

  async function ranges(): Promise<readonly Range[]> {
    const reply = (await alive()?.client.cluster('SLOTS')) ?? [];
    return reply.flatMap(([first, last, ...nodes]) => {
      const [primary, replica] = nodes.map(([, port]) => byPort.get(port));
      return primary ? [{ first, last, primary, replica }] : [];
    });
  }

  await form(servers);
  await until('the cluster is whole', async () => {
    const all = await ranges();
    return all.length === SHARDS && all.every(({ replica }) => replica !== undefined);
  });
  return {
    spec: { kind: 'cluster', nodes: servers.map(({ server }) => ({ host: '127.0.0.1', port: server.port })) },
    primaries: async () => (await ranges()).map(({ primary }) => primary),
    async shardOf(key) {
      const slot = Number(await alive()?.client.cluster('KEYSLOT', key));
      const range = (await ranges()).find(({ first, last }) => first <= slot && slot <= last);
      if (!range) throw new Error(`nobody serves slot ${slot}`);
      return range;
    },
    async flush() {
      for (const { primary } of await ranges()) await primary.client.flushall();
    },
    async stop() {
      await Promise.all(servers.map(({ server }) => server.kill()));
      await Promise.all(servers.map(({ server }) => server.stop()));
    },
  };
}

interface Node {
  readonly server: RedisServer;
  readonly busPort: number;
}

async function startNode(): Promise<Node> {
  const busPort = await freePort();
  const settings = { 'cluster-enabled': 'yes', 'cluster-port': busPort, 'cluster-node-timeout': 1000 };
  // A replica always stands for election, and copies without waiting for others.
  const replicas = {
    'cluster-replica-validity-factor': 0,
    'repl-diskless-sync-delay': 0,
    'repl-ping-replica-period': 1,
  };
  const args = Object.entries({ ...settings, ...replicas }).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  return { server: await startRedis({ args }), busPort };
}

/** As `redis-cli --cluster create` does. @see https://redis.io/docs/latest/operate/oss_and_stack/management/scaling/ */
async function form(nodes: readonly Node[]): Promise<void> {
  const send = ({ server }: Node, ...args: readonly (string | number)[]) => server.client.call('CLUSTER', ...args);
  const primaries = nodes.slice(0, SHARDS);
  const share = Math.ceil(SLOTS / SHARDS);
  for (const [n, node] of primaries.entries()) {
    await send(node, 'SET-CONFIG-EPOCH', n + 1);
    await send(node, 'ADDSLOTSRANGE', n * share, Math.min(SLOTS, (n + 1) * share) - 1);
  }
  for (const node of nodes) {
    for (const other of nodes)
      if (other !== node) await send(node, 'MEET', '127.0.0.1', other.server.port, other.busPort);
  }
  const ids = await Promise.all(primaries.map(async (node) => String(await send(node, 'MYID'))));
  for (const [n, node] of nodes.slice(SHARDS).entries()) {
    await until('the replica has met its primary', async () => (await send(node, 'REPLICATE', ids[n] ?? '')) === 'OK');
  }
  for (const node of nodes) {
    await until('all slots are served', async () => /cluster_state:ok/.test(String(await send(node, 'INFO'))));
  }
  for (const { server } of nodes.slice(SHARDS)) {
    await until('it has copied', async () => /master_link_status:up/.test(await server.client.info('replication')));
  }
}
