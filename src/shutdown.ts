import type { Server } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ForYou } from './feed/for-you.ts';
import type { GraphqlServer } from './server.ts';
import type { Store } from './stores/store.ts';
import type { Pollers } from './timeline/pollers.ts';

/** Connections that fall idle after the server has stopped listening are looked for this often, in ms. */
const IDLE_CHECK_MS = 20;

/** Twice as many as the connections that Node lets wait. */
const MAX_TURNS = 1024;

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
    ['answering the requests under way', deadlineMs / 2, () => answerAll(httpServer, server)],
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

async function answerAll(httpServer: Server, server: Pick<GraphqlServer, 'dispose'>): Promise<void> {
  await takeIn(httpServer);
  const closed = closeServer(httpServer);
  await server.dispose();
  // The connections that are left have not sent a whole request: there is nothing to answer.
  httpServer.closeAllConnections();
  await closed;
}

/** What has reached this machine is under way, too: a turn of the loop accepts one connection, two more read its request. */
async function takeIn(httpServer: Server): Promise<void> {
  let quietTurns = 0;
  const accepted = () => {
    quietTurns = 0;
  };
  httpServer.on('connection', accepted);
  for (let turn = 0; turn < MAX_TURNS && quietTurns < 3; turn += 1) {
    await setImmediate();
    quietTurns += 1;
  }
  httpServer.off('connection', accepted);
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
