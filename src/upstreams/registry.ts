import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { HttpClient } from './http.ts';
import { createMastodon } from './mastodon.ts';
import type { UpstreamSpec } from './spec.ts';
import { createTwitterV1 } from './twitter-v1.ts';
import { createTwitterV2 } from './twitter-v2.ts';
import type { Upstream } from './upstream.ts';

/** Throws ConfigError for a timeline that the network's API does not have. */
export function createUpstream(spec: UpstreamSpec, deps: { http: HttpClient; clock: Clock }): Upstream {
  let sent = 0;
  const http: HttpClient = {
    ...deps.http,
    get(request) {
      sent += 1;
      return deps.http.get(request);
    },
  };
  return { ...create(spec, { ...deps, http }), requestsSent: () => sent };
}

/** Every network has one line here. */
function create(spec: UpstreamSpec, deps: { http: HttpClient; clock: Clock }): Upstream {
  if (spec.kind === 'mastodon') return createMastodon(spec, deps);
  if (spec.api !== '1.1') return createTwitterV2(spec, deps);
  if (spec.timeline.type === 'search') throw new ConfigError('timeline: search needs api 2, got 1.1');
  return createTwitterV1(spec, deps);
}
