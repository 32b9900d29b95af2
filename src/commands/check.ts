import { basename } from 'node:path';
import { systemClock } from '../clock.ts';
import { loadSettings, type Settings, settingsWarnings } from '../config.ts';
import { ConfigError } from '../errors.ts';
import type { Source } from '../source.ts';
import { buildSources } from '../sources.ts';
import { storeName } from '../stores/registry.ts';
import { createHttpClient } from '../upstreams/http.ts';
import { askSource } from './ask-source.ts';
import type { CommandArgs } from './command.ts';
import { duration, table } from './print.ts';

/** At once, over all hosts. */
const ASKED_AT_ONCE = 4;

/** Checks the settings and says what each source came to; with `--live` also asks it. @throws ConfigError */
export async function check({ flags, env, cwd, version, stdout }: CommandArgs): Promise<number> {
  const loaded = await loadSettings({ file: flags.config, cwd, env });
  if (loaded === undefined) throw new ConfigError(`no sluice.config.* in ${cwd}`);
  const { settings, file } = loaded;
  const http = createHttpClient({ version, clock: systemClock });
  try {
    const sources = buildSources(settings, { http, clock: systemClock });
    for (const line of summary(settings, sources, file)) stdout(line);
    return flags.live ? await askAll(sources, stdout) : 0;
  } finally {
    await http.close();
  }
}

function summary(settings: Settings, sources: readonly Source[], file: string): readonly string[] {
  const { server, auth, store, forYou } = settings;
  const tokens = new Set(settings.sources.filter(({ token }) => token !== undefined).map(({ key }) => key));
  const rows = sources.map((source) => [
    source.key,
    source.network,
    source.timeline,
    source.host,
    source.url,
    tokens.has(source.key) ? 'token' : 'no token',
    typeof source.audience === 'string' ? source.audience : source.audience.join(','),
    `every ${duration(source.polling.minIntervalMs)} to ${duration(source.polling.idleIntervalMs)}`,
    `${duration(source.polling.overlapMs)} (${source.polling.overlap})`,
  ]);
  return [
    `${basename(file)} is valid: ${sources.length} source${sources.length === 1 ? '' : 's'}`,
    '',
    ...table([['source', 'network', 'timeline', 'host', 'asks', 'with', 'for', 'polled', 'overlap'], ...rows]),
    '',
    ...table([
      ['store', storeName(store)],
      ['server', `${server.host}:${server.port}, cors ${corsLabel(server.cors)}`],
      ['auth', auth.kind === 'none' ? `none, everybody is ${auth.userId}` : `header ${auth.name}`],
      ['forYou', `${forYou.size} posts, ordered by ${forYou.recommender.kind}, when gone ${forYou.whenGone}`],
    ]),
    ...settingsWarnings(settings).map((warning) => `warning: ${warning}`),
  ];
}

function corsLabel(cors: Settings['server']['cors']): string {
  if (typeof cors === 'string') return 'for loopback origins';
  return cors.length === 0 ? 'for nobody' : `for ${cors.join(', ')}`;
}

async function askAll(sources: readonly Source[], stdout: (line: string) => void): Promise<number> {
  stdout('');
  const waiting = [...sources];
  let failed = 0;
  const worker = async () => {
    for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
      const { ok, found } = await askSource(source);
      if (!ok) failed += 1;
      stdout(`${source.key}: ${ok ? 'ok' : 'FAILED'}: ${found}`);
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, worker));
  stdout(failed === 0 ? `all ${sources.length} answered` : `${failed} of ${sources.length} failed`);
  return failed === 0 ? 0 : 1;
}
