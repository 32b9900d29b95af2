import { createHash } from 'node:crypto';
import type { Settings } from './config.ts';
import type { TimelineSpec } from './upstreams/spec.ts';

/**
 * What makes two sources the same: `mastodon:town.example:public:local`. Of a Mastodon home timeline the settings say nothing but
 * the token: that is the name of a log that begins with it. @see home-logs.ts
 */
export function logIdOf({ kind, host, timeline, token }: Settings['sources'][number]): string {
  return [kind, host, timeline.type, ...parameters(timeline, token)].join(':');
}

function parameters(timeline: TimelineSpec, token: string | undefined): readonly string[] {
  switch (timeline.type) {
    case 'home':
      return ['userId' in timeline ? timeline.userId : fingerprint(token ?? '')];
    case 'public':
      return timeline.only === undefined ? [] : [timeline.only];
    case 'tag':
      return [encodeURIComponent(timeline.tag.toLowerCase())];
    case 'search':
      return [encodeURIComponent(timeline.query)];
    default:
      return [encodeURIComponent('userId' in timeline ? timeline.userId : timeline.id)];
  }
}

/** Tells tokens apart without saying anything about them. */
export function fingerprint(token: string): string {
  return createHash('sha256').update(`token\0${token}`).digest('hex').slice(0, 16);
}
