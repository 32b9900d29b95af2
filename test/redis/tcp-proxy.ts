import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

/** What a client asks, and what the server answers. */
export type Way = 'asked' | 'answered';

/** Stands between a store and its Redis, and is a bad network when told so. */
export interface TcpProxy {
  readonly url: string;
  /** Keeps what goes this way, on all connections, until `heal`. */
  hold(way: Way): void;
  /** Loses what goes this way until `heal`; connections that lost anything stay so, as their ends cannot agree any more. */
  lose(way: Way): void;
  /** Resolves when anything was lost since it began to lose. */
  lost(): Promise<void>;
  /** Answers come so much later, until `heal`. */
  delay(ms: number): void;
  /** Resets all connections. */
  cut(): void;
  /** Resets all connections, and new ones, until `heal`. */
  refuse(): void;
  /** Ends one side of all connections, and tells the other nothing; new ones are whole. */
  halfClose(side: 'client' | 'server'): void;
  heal(): void;
  stop(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly held: Record<Way, Buffer[]>;
  readonly lost: Set<Way>;
  isHalf: boolean;
}

export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  const mode: Record<Way, 'pass' | 'hold' | 'lose'> = { asked: 'pass', answered: 'pass' };
  let losing = Promise.withResolvers<void>();
  let delayMs = 0;
  let isRefusing = false;

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) return void client.resetAndDestroy();
    const server = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
    const link: Link = { client, server, held: { asked: [], answered: [] }, lost: new Set(), isHalf: false };
    links.add(link);
    join(link, 'asked');
    join(link, 'answered');
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  function join(link: Link, way: Way): void {
    const [from, to] = way === 'asked' ? [link.client, link.server] : [link.server, link.client];
    from.on('data', (bytes: Buffer) => {
      link.held[way].push(bytes);
      if (delayMs > 0 && way === 'answered') setTimeout(() => pass(link, way), delayMs);
      else pass(link, way);
    });
    from.on('end', () => link.isHalf || to.end());
    from.on('error', () => {});
    from.on('close', () => {
      if (link.isHalf && !link.client.destroyed) return;
      to.destroy();
      links.delete(link);
    });
  }

  function pass(link: Link, way: Way): void {
    if (mode[way] === 'hold') return;
    const to = way === 'asked' ? link.server : link.client;
    const held = link.held[way].splice(0);
    if (mode[way] === 'lose') {
      link.lost.add(way);
      losing.resolve();
    }
    if (!link.lost.has(way) && to.writable) for (const bytes of held) to.write(bytes);
  }

  function cut(): void {
    for (const { client, server } of links) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  const address = listener.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    hold: (way) => {
      mode[way] = 'hold';
    },
    lose: (way) => {
      losing = Promise.withResolvers();
      mode[way] = 'lose';
    },
    lost: () => losing.promise,
    delay: (ms) => {
      delayMs = ms;
    },
    cut,
    refuse() {
      isRefusing = true;
      cut();
    },
    halfClose(side) {
      for (const link of links) {
        link.isHalf = true;
        link[side].end();
      }
    },
    heal() {
      Object.assign(mode, { asked: 'pass', answered: 'pass' });
      delayMs = 0;
      isRefusing = false;
      for (const link of links) for (const way of ['asked', 'answered'] as const) pass(link, way);
    },
    async stop() {
      cut();
      listener.close();
      await once(listener, 'close');
    },
  };
}
