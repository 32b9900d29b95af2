import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../clock.ts';
import { isLoopback } from '../config/rules.ts';
import { checkSettings, loadSettings, type Settings, settingsWarnings } from '../config.ts';
import { type Demo, startDemo } from '../demo/demo.ts';
import { ConfigError } from '../errors.ts';
import { createGateway } from '../gateway.ts';
import { closeGracefully } from '../shutdown.ts';
import type { CommandArgs } from './command.ts';

const SHUTDOWN_DEADLINE_MS = 10_000;

/** What was cut off, such as a request to a recommender, may keep the process alive for so much longer. */
const LINGER_MS = 200;

/** Runs the gateway until `stopped` gives the signal's name; without a settings file, the demo. Gives the exit code. */
export async function serve(args: CommandArgs, stopped: Promise<string>): Promise<number> {
  const { flags, env, cwd, stdout, version } = args;
  let isUp = false;
  // Nothing is under way yet, and a settings file that waits for something must not hold up the stop.
  void stopped.then(() => isUp || process.exit(0));
  const loaded = await loadSettings({ file: flags.config, cwd, env });
  const demo = loaded ? undefined : await demoUnlessProduction(cwd, env);
  const settings = loaded?.settings ?? checkSettings(demo?.config, env);
  if (demo) requireLoopback(settings);

  const log = (line: string) => stdout(`${new Date(systemClock.now()).toISOString()} ${line}`);
  const gateway = await createGateway({ settings, clock: systemClock, version, log });
  const httpServer = createHttpServer(gateway.handler);
  try {
    await listen(httpServer, settings.server);
  } catch (error) {
    await Promise.all([gateway.store.close(), gateway.close(), demo?.close()]);
    throw error;
  }
  gateway.start();
  isUp = true;

  for (const warning of settingsWarnings(settings)) stdout(`warning: ${warning}`);
  for (const line of greeting(urlOf(httpServer, settings), settings, loaded?.file)) stdout(line);
  demo?.watch({
    sources: gateway.sources,
    timelines: gateway.store.timelines,
    tell: ({ published, missedByPlain, missedBySluice }) =>
      stdout(`town: ${published} posts so far, missed by plain: ${missedByPlain}, by Sluice: ${missedBySluice}`),
  });

  log(`${await stopped}: stopping`);
  const { server, forYou, store } = gateway;
  const parts = { httpServer, server, forYou, store, pollers: gateway };
  const code = await closeGracefully({ ...parts, deadlineMs: SHUTDOWN_DEADLINE_MS, log });
  // After the sources, which would tell that their servers fail.
  await Promise.all([gateway.close(), demo?.close()]);
  setTimeout(() => process.exit(code), LINGER_MS).unref();
  return code;
}

async function demoUnlessProduction(cwd: string, env: CommandArgs['env']): Promise<Demo> {
  if (env.NODE_ENV === 'production') throw new ConfigError(`no sluice.config.* in ${cwd}`);
  return startDemo(systemClock);
}

function requireLoopback(settings: Settings): void {
  const { host } = settings.server;
  if (!isLoopback(host)) {
    throw new ConfigError(`HOST: the demo listens on loopback hosts alone, got "${host}"; write a sluice.config.ts`);
  }
}

/** @throws ConfigError, with what the system said, when it cannot */
async function listen(server: Server, { port, host }: Settings['server']): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      const other = port < 65_535 ? port + 1 : port - 1;
      const taken = `port ${port} is taken: stop what listens there, or choose another: PORT=${other} npm start`;
      const refused = `cannot listen on port ${port} of ${host} (${code}): required a port that this user may take, and an address of this machine`;
      reject(new ConfigError(code === 'EADDRINUSE' ? taken : refused));
    });
    server.listen(port, host, resolve);
  });
}

function urlOf(server: Server, settings: Settings): string {
  const { port } = server.address() as AddressInfo;
  const { host } = settings.server;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}/graphql`;
}

function greeting(url: string, settings: Settings, file: string | undefined): readonly string[] {
  const { auth } = settings;
  const identity = auth.kind === 'header' ? ` -H '${auth.name}: ann'` : '';
  const curl = `curl -s ${url} -H 'content-type: application/json'${identity} -d '{"query":"{ forYou(limit: 3) { items { post { text } } nextPage { cursor } } }"}'`;
  return [
    file
      ? `Sluice with ${file}`
      : 'Sluice demo: five replayed servers on loopback. Your own: write a sluice.config.ts (see README.md, "Settings").',
    `GraphQL   ${url}`,
    ...(settings.server.graphiql ? [`GraphiQL  ${url} in a browser`] : []),
    `Try       ${curl}`,
  ];
}
