import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** A server in a process of its own. */
export interface Peer {
  readonly name: string;
  readonly url: string;
  /** What its process has spent so far. */
  cpuMicros(): Promise<number>;
  stop(): void;
}

const PEERS = new URL('../peers/', import.meta.url);

/** What the peers hand out: the objects, and the text of the For You page's whole answer. */
export interface Served {
  readonly forYou: unknown;
  readonly timeline: { readonly page: unknown; readonly nothing: unknown };
  readonly text: string;
}

export function startGateway(name: string, store: string): Promise<Peer> {
  return started(name, fork(new URL('gateway.ts', import.meta.url), [store]));
}

/** A gateway's edge over pages that are kept: what all else costs is left out. */
export function startEdge(name: string): Promise<Peer> {
  return started(name, fork(new URL('edge.ts', import.meta.url)));
}

/** Installs the peers when they are not there yet. */
export function startPeer(name: string, served: Served): Promise<Peer> {
  if (!existsSync(new URL('node_modules', PEERS))) {
    const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: PEERS, stdio: 'inherit' });
    if (status !== 0) throw new Error('the peers of bench/peers cannot be installed');
  }
  const child = fork(new URL('server.js', PEERS), [name]);
  child.send(served);
  return started(name, child);
}

async function started(name: string, child: ChildProcess): Promise<Peer> {
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    name,
    url,
    async cpuMicros() {
      child.send('cpu');
      const [told] = (await once(child, 'message')) as [{ cpuMicros: number }];
      return told.cpuMicros;
    },
    stop: () => child.disconnect(),
  };
}
