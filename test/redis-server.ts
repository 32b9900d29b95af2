import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

/** A real redis-server on loopback, for one test file. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** For looking at what the store wrote, and for changing it. */
  readonly client: Redis;
  /** Ends it as kill -9 does. */
  kill(): Promise<void>;
  /** Kills it, and starts it again with what it has on disk; the scripts that it knew are lost. */
  restart(): Promise<void>;
  /** Stops its process where it is, its connections open, until `thaw`. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  readonly port?: number;
  readonly args?: readonly string[];
  readonly program?: string;
  /** Makes it a sentinel, with these lines as its file of settings. */
  readonly sentinel?: readonly string[];
}

/** What is left when a test ends early goes with its process; so it does when the runner is stopped. */
const leftovers = new Map<string, ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => {
  for (const [folder, child] of leftovers) {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Starts one with these settings more, such as `--maxmemory 10mb`; resolves when it answers. Keeps nothing on disk by itself. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  const args = argsOf(options, port, folder);
  const launch = () => spawn(options.program ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let child = launch();
  leftovers.set(folder, child);
  await untilItAccepts(child);
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  await client.connect();

  const end = async (signal: NodeJS.Signals) => {
    client.disconnect();
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    client,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      child = launch();
      leftovers.set(folder, child);
      await untilItAccepts(child);
      await client.connect();
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGCONT');
      await end('SIGTERM');
      leftovers.delete(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function argsOf({ args = [], sentinel }: RedisServerOptions, port: number, folder: string): readonly string[] {
  const own = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
  if (sentinel === undefined) return [...own, '--save', '', '--appendonly', 'no', ...args];
  const file = join(folder, 'sentinel.conf');
  writeFileSync(file, `${sentinel.join('\n')}\n`);
  return [file, '--sentinel', ...own, ...args];
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

async function untilItAccepts(child: ChildProcess): Promise<void> {
  if (!child.stdout) throw new Error('redis-server has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    if (/Ready to accept connections|Running mode=sentinel|\+monitor/.test(line)) {
      // What it says later is read, too, so that it never waits for a full pipe.
      child.stdout.resume();
      return;
    }
  }
  throw new Error('redis-server ended before it was ready');
}
