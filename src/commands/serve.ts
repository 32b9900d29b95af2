import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../clock.ts';
import { checkSettings, loadSettings, type Settings, settingsWarnings } from '../config.ts';
import { type Demo, startDemo } from '../demo/demo.ts';
import { ConfigError } from '../errors.ts';
import { createGateway } from '../gateway.ts';
import { closeGracefully } from '../shutdown.ts';
import type { CommandArgs } from './command.ts';

const SHUTDOWN_DEADLINE_MS = 10_000;

/** Runs the gateway until SIGTERM or SIGINT; without a settings file, the demo. Gives the exit code. */
export async function serve({ flags, env, cwd, stdout, version }: CommandArgs): Promise<number> {
  const stopped = untilSignal();
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

  for (const warning of settingsWarnings(settings)) stdout(`warning: ${warning}`);
  for (const line of greeting(urlOf(httpServer, settings), settings, loaded?.file)) stdout(line);
  demo?.watch({
    sources: gateway.sources,
    timelines: gateway.store.timelines,
    tell: ({ published, missedByPlain, missedBySluice }) =>
      stdout(`town: ${published} posts so far, missed by plain: ${missedByPlain}, by Sluice: ${missedBySluice}`),
  });

  log(`${await stopped}: stopping`);
  await demo?.close();
  const code = await closeGracefully({ ...gateway, httpServer, deadlineMs: SHUTDOWN_DEADLINE_MS, log });
  await gateway.close();
  return code;
}

function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal));
  });
}

async function demoUnlessProduction(cwd: string, env: CommandArgs['env']): Promise<Demo> {
  if (env.NODE_ENV === 'production') throw new ConfigError(`no sluice.config.* in ${cwd}`);
  return startDemo(systemClock);
}

function requireLoopback(settings: Settings): void {
  const { host } = settings.server;
  if (!/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) {
    throw new ConfigError(`HOST: the demo listens on loopback hosts alone, got "${host}"; write a sluice.config.ts`);
  }
}

async function listen(server: Server, { port, host }: Settings['server']): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new ConfigError(
          `port ${port} is taken: stop what listens there, or choose another: PORT=${port + 1} npm start`,
        ),
      );
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
  const curl = `curl -s ${url} -H 'content-type: application/json' -d '{"query":"{ forYou(limit: 3) { items { post { text } } nextPage { cursor } } }"}'`;
  return [
    file
      ? `Sluice with ${file}`
      : 'Sluice demo: five replayed servers on loopback. Your own: write a sluice.config.ts (see README.md, "Settings").',
    `GraphQL   ${url}`,
    ...(settings.server.graphiql ? [`GraphiQL  ${url} in a browser`] : []),
    `Try       ${curl}`,
  ];
}
