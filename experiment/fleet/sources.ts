import { systemClock } from '../../src/clock.ts';
import { checkSettings, type Settings } from '../../src/config.ts';
import type { Source } from '../../src/source.ts';
import { buildSources } from '../../src/sources.ts';
import { createHttpClient } from '../../src/upstreams/http.ts';
import type { FleetOptions } from './options.ts';

/** What a gateway of the fleet is told. JSON. */
export interface GatewayOrder {
  readonly redisUrl: string;
  /** Of the towns, one a token. */
  readonly urls: readonly string[];
  readonly options: FleetOptions;
  /** By which servers know the gateway: `gateway-0`. */
  readonly name: string;
}

/** The sources of all towns as settings make them, but for the throttle, which is a shorter one than Mastodon's. */
export function fleetSources(order: GatewayOrder): { settings: Settings; sources: readonly Source[] } {
  const { redisUrl, urls, options } = order;
  const { sourcesPerToken, minIntervalMs, throttle } = options;
  const named = urls.flatMap((url, town) =>
    Array.from({ length: sourcesPerToken }, (_, n) => [
      `town${town}tag${n}`,
      { kind: 'mastodon', url, token: `token-of-town-${town}`, timeline: { type: 'tag', tag: `tag${n}` } },
    ]),
  );
  const polling = { minIntervalMs, idleIntervalMs: 12 * minIntervalMs, sweepIntervalMs: 60 * minIntervalMs };
  const settings = checkSettings({ sources: Object.fromEntries(named), store: redisUrl, polling }, {});
  const http = createHttpClient({ version: order.name, clock: systemClock });
  const throttles = [{ ...throttle, counts: 'pages' }] as const;
  const sources = buildSources(settings, { http, clock: systemClock }).map((source) => ({
    ...source,
    upstream: {
      ...source.upstream,
      describe: async (signal?: AbortSignal) => ({ ...(await source.upstream.describe(signal)), throttles }),
    },
  }));
  return { settings, sources };
}
