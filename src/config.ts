import type { z } from 'zod';
import { type Environment, listenOverrides, placeholder, substitute } from './config/environment.ts';
import { findSettingsFile, readSettingsFile } from './config/file.ts';
import { firstProblem, ruleOf } from './config/problem.ts';
import { isLoopback } from './config/rules.ts';
import { configSchema } from './config/schema.ts';
import { checkedSource, type SourceSettings } from './config/source-settings.ts';
import type { StoreSettings } from './config/store-schema.ts';
import { ConfigError } from './errors.ts';

/** A settings file as it may be written: only `sources` is required. @see README.md, "Settings" */
export type Config = z.input<typeof configSchema>;

/** Checked settings, all defaults filled in. */
export interface Settings {
  /** In the order of the file. */
  readonly sources: readonly SourceSettings[];
  /** `sqlite:FILE` (as seen from the working directory), `sqlite::memory:`, or a Redis, or two. */
  readonly store: StoreSettings;
  readonly server: {
    /** 0: any free port. */
    readonly port: number;
    readonly host: string;
    /** Names that it answers to besides loopback names, addresses and `host`. */
    readonly hosts: readonly string[];
    /** Origins whose pages may ask, none when empty; `loopback`: every loopback origin, without credentials. */
    readonly cors: 'loopback' | readonly string[];
    readonly graphiql: boolean;
  };
  readonly auth: NoAuth | HeaderAuth;
  /** The first signs, all verify; empty: the store makes and keeps one. */
  readonly tokens: { readonly keys: readonly Buffer[] };
  readonly forYou: {
    readonly size: number;
    readonly instanceTtlSeconds: number;
    /** At most `instanceTtlSeconds`. */
    readonly currentTtlSeconds: number;
    readonly whenGone: 'continue' | 'empty';
    readonly recommender: RecommenderSettings;
  };
  readonly timeline: { readonly keepHours: number; readonly keepEntries: number; readonly keepMegabytes: number };
  /** Without a token there are no endpoints for operators. */
  readonly operator: { readonly token?: string | undefined };
  /** Whether `nextIds` issues Snowflake ids. */
  readonly ids: { readonly enabled: boolean };
  readonly polling: {
    readonly minIntervalMs: number;
    readonly idleIntervalMs: number;
    readonly sweepIntervalMs: number;
    readonly maxWaitMs: number;
  };
}

/** Everybody who reaches the port is this one viewer. */
export interface NoAuth {
  readonly kind: 'none';
  readonly userId: string;
}

/** The viewer's id stands in a header, believed from trusted peers alone. */
export interface HeaderAuth {
  readonly kind: 'header';
  /** In lower case. */
  readonly name: string;
  /** IP addresses and CIDR ranges. */
  readonly trustedPeers: readonly string[];
}

export type RecommenderSettings =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly timeoutMs: number;
    };

/** Gives the settings back as they are: it is there for the types. */
export function defineConfig(config: Config): Config {
  return config;
}

/** Stands for an environment variable, which is read when the settings are checked; as the whole value of a setting. */
export function env(name: string): string {
  return placeholder(name);
}

/**
 * Reads and checks the settings file: `file`, else SLUICE_CONFIG, else `sluice.config.{ts,js,json}` in `cwd`.
 * Undefined when none is named and none is there. @throws ConfigError
 */
export async function loadSettings(where: {
  file?: string | undefined;
  cwd: string;
  env: Environment;
}): Promise<{ settings: Settings; file: string } | undefined> {
  const file = findSettingsFile(where.cwd, where.file ?? (where.env.SLUICE_CONFIG || undefined));
  return file === undefined ? undefined : { settings: checkSettings(await readSettingsFile(file), where.env), file };
}

/** The settings with all defaults. @throws ConfigError with the first problem: `server.port: required …, got "80o0"`. */
export function checkSettings(raw: unknown, environment: Environment): Settings {
  const { value, origins } = substitute(raw, environment);
  const parsed = configSchema.safeParse(value, { error: ruleOf });
  if (!parsed.success) throw new ConfigError(firstProblem(parsed.error, value, origins));

  const { sources, store, server, auth, tokens, forYou, timeline, polling, ids, operator } = parsed.data;
  return {
    sources: Object.entries(sources).map(([key, source]) => checkedSource(key, source, polling)),
    store,
    server: {
      ...server,
      cors: server.cors ?? (auth.kind === 'none' ? 'loopback' : []),
      ...listenOverrides(environment),
    },
    auth: auth.kind === 'none' ? auth : { ...auth, name: auth.name.toLowerCase() },
    tokens: { keys: tokens.keys.map((key) => Buffer.from(key, 'utf8')) },
    forYou,
    timeline,
    polling,
    ids,
    operator,
  };
}

/** What is allowed but better known, one sentence each; told when the server starts. */
export function settingsWarnings({ auth, server, sources, forYou }: Settings): string[] {
  const warnings: string[] = [];
  if (auth.kind === 'none' && !isLoopback(server.host)) {
    warnings.push(`auth: everybody who reaches ${server.host}:${server.port} is the viewer "${auth.userId}"`);
  }
  if (auth.kind === 'header' && auth.trustedPeers.some((peer) => peer.endsWith('/0'))) {
    warnings.push(`auth.trustedPeers: the header ${auth.name} is believed from everywhere`);
  }
  const { recommender } = forYou;
  if (recommender.kind === 'http' && isInsecure(recommender.url)) {
    warnings.push('forYou.recommender.url: who reads what goes there unencrypted');
  }
  for (const { key, url, token } of sources) {
    if (isInsecure(url)) {
      warnings.push(
        `sources.${key}.url: ${token === undefined ? 'it is' : 'the token and what it shows are'} sent unencrypted`,
      );
    }
  }
  return warnings;
}

function isInsecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}
