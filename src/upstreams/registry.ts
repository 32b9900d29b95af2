import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { HttpClient } from './http.ts';
import { createMastodon } from './mastodon.ts';
import type { UpstreamSpec } from './spec.ts';
import { createTwitterV1 } from './twitter-v1.ts';
import { createTwitterV2 } from './twitter-v2.ts';
import type { Upstream } from './upstream.ts';

/** Every network has one line here. Throws ConfigError for a timeline that the network's API does not have. */
export function createUpstream(spec: UpstreamSpec, deps: { http: HttpClient; clock: Clock }): Upstream {
  if (spec.kind === 'mastodon') return createMastodon(spec, deps);
  if (spec.api !== '1.1') return createTwitterV2(spec, deps);
  if (spec.timeline.type === 'search') throw new ConfigError('timeline: search needs api 2, got 1.1');
  return createTwitterV1(spec, deps);
}
