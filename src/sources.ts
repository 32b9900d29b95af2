import type { Clock } from './clock.ts';
import type { Settings } from './config.ts';
import { ConfigError } from './errors.ts';
import { fingerprint, logIdOf } from './log-id.ts';
import type { Audience, Source } from './source.ts';
import type { HttpClient } from './upstreams/http.ts';
import { createUpstream } from './upstreams/registry.ts';
import type { TimelineSpec } from './upstreams/spec.ts';

/** What must be the same for keys that share a log. */
type Shared = Pick<Source, 'key' | 'logId' | 'audience' | 'url'> & { readonly api?: string | undefined };

/**
 * The sources of the settings, in their order. Asks nothing yet.
 * @throws ConfigError for two keys of one timeline that differ in what would make one log mean two things.
 */
export function buildSources(settings: Settings, deps: { http: HttpClient; clock: Clock }): Source[] {
  requireOneMeaning(settings.sources.map((source) => ({ ...source, logId: logIdOf(source) })));
  return settings.sources.map((source) => ({
    key: source.key,
    logId: logIdOf(source),
    network: source.kind,
    host: source.host,
    url: source.url,
    timeline: timelineLabel(source.timeline),
    audience: source.audience,
    upstream: createUpstream({ ...source, keepPrivate: isUsers(source.audience) }, deps),
    credentialId: `${source.host} ${source.token === undefined ? 'anonymous' : fingerprint(source.token)}`,
    anonymous: source.token === undefined,
    polling: {
      minIntervalMs: source.minIntervalMs,
      idleIntervalMs: Math.max(settings.polling.idleIntervalMs, source.minIntervalMs),
      sweepIntervalMs: settings.polling.sweepIntervalMs,
      overlapMs: source.overlapMs,
      overlap: source.overlap,
      pollWhen: source.pollWhen,
      maxPostsPerDay: source.maxPostsPerDay,
      ownInterval: source.ownInterval,
      ownOverlap: source.ownOverlap,
      idScheme: source.idScheme,
    },
  }));
}

/** As people would say it: `home`, `public (local)`, `tag #cats`, `user 2244994945`. */
function timelineLabel(timeline: TimelineSpec): string {
  switch (timeline.type) {
    case 'home':
      return 'userId' in timeline ? `home ${timeline.userId}` : 'home';
    case 'public':
      return timeline.only === undefined ? 'public' : `public (${timeline.only})`;
    case 'tag':
      return `tag #${timeline.tag}`;
    case 'search':
      return `search ${JSON.stringify(timeline.query)}`;
    default:
      return `${timeline.type} ${'userId' in timeline ? timeline.userId : timeline.id}`;
  }
}

/**
 * Keys of one timeline share its log: with another audience its private posts would reach people who may not read them.
 * @throws ConfigError
 */
export function requireOneMeaning(sources: readonly Shared[]): void {
  const seen = new Map<string, Shared>();
  for (const source of sources) {
    const other = seen.get(source.logId);
    seen.set(source.logId, other ?? source);
    if (other === undefined) continue;
    const pair = `sources.${other.key} and sources.${source.key} are one timeline`;
    if (audienceKey(other.audience) !== audienceKey(source.audience)) {
      throw new ConfigError(`${pair}: required the same audience for both`);
    }
    if (other.url !== source.url || other.api !== source.api) {
      throw new ConfigError(`${pair}: required the same url and api for both, or a host of its own for one`);
    }
  }
}

/** The same for two audiences of the same people. */
export function audienceKey(audience: Audience): string {
  return isUsers(audience) ? JSON.stringify([...audience].sort()) : audience;
}

function isUsers(audience: Audience): audience is readonly string[] {
  return typeof audience !== 'string';
}
