import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
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
  stop(): Promise<void>;
}

/** Starts one with these settings more, such as `--maxmemory 10mb`; resolves when it answers. Keeps nothing on disk by itself. */
export async function startRedis(
  options: { port?: number; args?: readonly string[]; program?: string } = {},
): Promise<RedisServer> {
  const port = options.port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  const own = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn(options.program ?? 'redis-server', [...own, ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await untilItAccepts(child);
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  await client.connect();

  const end = async (signal: NodeJS.Signals) => {
    client.disconnect();
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, url: `redis://127.0.0.1:${port}`, client, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
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
    if (/Ready to accept connections|Running mode=sentinel/.test(line)) {
      // What it says later is read, too, so that it never waits for a full pipe.
      child.stdout.resume();
      return;
    }
  }
  throw new Error('redis-server ended before it was ready');
}
