import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { isLoopback } from '../config/rules.ts';
import { checkSettings } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { type Findings, probe } from '../init/probe.ts';
import { type Plan, planSettings, renderJson, renderTypeScript } from '../init/render.ts';
import { createClient } from '../upstreams/client.ts';
import { createHttpClient } from '../upstreams/http.ts';
import type { CommandArgs } from './command.ts';
import { duration, printable, table } from './print.ts';

const TWITTER = [
  'x.com',
  'api.x.com',
  'www.x.com',
  'twitter.com',
  'api.twitter.com',
  'www.twitter.com',
  'mobile.twitter.com',
];
const DEFAULT_FILE = 'sluice.config.ts';

/**
 * Asks a server what it is and writes settings for it. Gives 1 when the server showed nothing that could be a source.
 * @throws ConfigError, UpstreamError
 */
export async function init({ operand, flags, env, cwd, version, stdout, stderr }: CommandArgs): Promise<number> {
  const url = serverUrl(operand, flags.allowInsecure ?? false);
  const { tokenEnv } = flags;
  const token = tokenEnv === undefined ? undefined : env[tokenEnv];
  if (tokenEnv !== undefined && !token) throw new ConfigError(`--token-env: ${tokenEnv} is not set`);
  const date = new Date(systemClock.now()).toISOString().slice(0, 10);
  const file = resolve(cwd, flags.out ?? DEFAULT_FILE);
  if (!/\.(ts|js|json)$/.test(file))
    throw new ConfigError(`--out: required a name that ends in .ts, .js or .json, got ${file}`);

  if (TWITTER.includes(url.hostname)) {
    stdout('Twitter is not asked: every post that is read there is billed.');
    return save({
      plan: { url: 'https://api.x.com', kind: 'twitter', tokenEnv, date },
      lines: [],
      file,
      flags,
      stdout,
    });
  }
  const base = url.href.replace(/\/+$/, '');
  const http = createHttpClient({ version, clock: systemClock });
  let findings: Findings;
  try {
    const client = createClient({ url: base, token }, { http, clock: systemClock });
    findings = await probe(client, {
      hasToken: token !== undefined,
      told: (what) => stdout(`asking ${base}: ${what}`),
    });
  } finally {
    await http.close();
  }
  const lines = findingLines(findings).map((line) => printable(line));
  stdout('');
  for (const line of lines) stdout(line);
  const plan: Plan = { url: base, kind: 'mastodon', tokenEnv, findings, date };
  if (Object.keys(planSettings(plan).sources).length === 0) {
    const hint =
      token === undefined
        ? 'It may want a token: --token-env NAME names its environment variable.'
        : 'The token has no right to read.';
    stderr(`sluice: ${printable(base)} showed no timeline to this caller. ${hint}`);
    return 1;
  }
  return save({ plan, lines, file, flags, stdout });
}

function serverUrl(text: string, allowInsecure: boolean): URL {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  const isUsual = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  if (!isUsual) {
    const shown = text.includes('@') ? 'one with credentials' : printable(text, 60);
    throw new ConfigError(`init: required the URL of a server, such as https://town.example, got ${shown}`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowInsecure) {
    throw new ConfigError('init: required https: (http: is for loopback alone, or needs --allow-insecure)');
  }
  return new URL(url.pathname, url.origin);
}

/** What was found, a line each: for people, and for the comments at the top of the file. */
function findingLines(findings: Findings): readonly string[] {
  const { software, idScheme, promisedScheme, timelines, limits, hasDate, sinceId, accountSinceId, byId } = findings;
  return table([
    ['software', software ?? 'it does not tell'],
    ['ids', promisedScheme ? `${idScheme}: they are not the ${promisedScheme} ids that its name promises` : idScheme],
    ...timelines.map(({ name, answer, posts, message }) => [
      name,
      answer === 'readable'
        ? `readable, ${posts} posts of 80 asked for`
        : `${answer === 'unused' ? 'nobody used it there yet' : answer}: ${message ?? ''}`,
    ]),
    ...(limits.length === 0 ? [['limits', 'none told']] : []),
    ...limits.map(({ limit, remaining, resetAtMs }) => [
      'limit',
      `${remaining} of ${limit} requests left for ${duration(Math.max(0, Math.ceil((resetAtMs - systemClock.now()) / 1000) * 1000))}`,
    ]),
    ['since_id', `${sinceId}; on account pages ${accountSinceId}`],
    ['by id', byId === 'refused' ? 'refused to this caller: removals are found by absence alone' : byId],
    ['Date', hasDate ? 'sent' : 'not sent: the local clock is used'],
  ]);
}

function save(what: {
  plan: Plan;
  lines: readonly string[];
  file: string;
  flags: CommandArgs['flags'];
  stdout: (line: string) => void;
}): number {
  const { plan, lines, file, flags, stdout } = what;
  // The placeholders need not be set yet.
  const names = [plan.tokenEnv ?? 'SLUICE_TOKEN'];
  checkSettings(planSettings(plan), Object.fromEntries(names.map((name) => [name, 'a-token'])));
  const text = file.endsWith('.json') ? renderJson(plan) : renderTypeScript(plan, lines);
  try {
    writeFileSync(file, text, { flag: flags.force ? 'w' : 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new ConfigError(`${file} is there already: --force overwrites it, --out names another file`);
    throw new ConfigError(`--out: required a file that can be written, got ${file} (${code})`);
  }
  stdout('');
  stdout(`wrote ${file}`);
  stdout('next: `sluice check --live` asks its sources once, `sluice` runs the gateway');
  return 0;
}
