import type { Server } from 'node:http';
import type { ForYou } from './feed/for-you.ts';
import type { GraphqlServer } from './server.ts';
import type { Store } from './stores/store.ts';
import type { Pollers } from './timeline/pollers.ts';

/** Connections that fall idle after the server has stopped listening are looked for this often, in ms. */
const IDLE_CHECK_MS = 20;

/**
 * Stops a gateway: no new connections, requests under way are answered, generations and polls end or are dropped whole,
 * then the store closes. Takes at most about `deadlineMs`, of which requests get half; what is left then is cut off.
 * Gives the exit code: 0 when all ended by itself, 1 when something had to be cut off or failed.
 */
export async function closeGracefully(gateway: {
  httpServer: Server;
  server: Pick<GraphqlServer, 'dispose'>;
  pollers: Pick<Pollers, 'stop'>;
  forYou: Pick<ForYou, 'drain'>;
  store: Pick<Store, 'close'>;
  deadlineMs: number;
  log: (line: string) => void;
}): Promise<number> {
  const { httpServer, server, pollers, forYou, store, deadlineMs, log } = gateway;
  const steps: readonly (readonly [name: string, boundMs: number, run: () => Promise<unknown>])[] = [
    [
      'answering the requests under way',
      deadlineMs / 2,
      () => Promise.all([closeServer(httpServer), server.dispose()]),
    ],
    ['finishing feeds', deadlineMs / 6, () => forYou.drain()],
    ['stopping the sources', deadlineMs / 6, () => pollers.stop()],
    ['closing the store', deadlineMs / 6, () => store.close()],
  ];
  let code = 0;
  for (const [name, boundMs, run] of steps) {
    const failure = await failureOf(run, boundMs);
    if (failure === undefined) continue;
    log(`${name}: ${failure}`);
    code = 1;
  }
  httpServer.closeAllConnections();
  return code;
}

function closeServer(httpServer: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  httpServer.close(() => resolve());
  // `close` lets go of connections that are idle now, not of those that still have an answer to get.
  const idleCheck = setInterval(() => httpServer.closeIdleConnections(), IDLE_CHECK_MS).unref();
  return promise.finally(() => clearInterval(idleCheck));
}

async function failureOf(run: () => Promise<unknown>, boundMs: number): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`not done after ${Math.round(boundMs)} ms`), boundMs);
  const done = async () => {
    try {
      await run();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  return Promise.race([done(), late]).finally(() => clearTimeout(timer));
}
