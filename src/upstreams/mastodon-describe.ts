import { UpstreamError } from '../errors.ts';
import { recogniseIdScheme } from '../ids/id-scheme.ts';
import type { Client } from './client.ts';
import { identifySoftware, isAtLeast, isMastodonProper, type Software } from './mastodon-instance.ts';
import { readJson } from './reply.ts';
import type { MastodonSpec } from './spec.ts';
import type { UpstreamDescription } from './upstream.ts';

/** Mastodon and its kin cut larger limits to this; snac and Hollo would give more. */
export const PAGE_SIZE = 40;
/** Home and list feeds, of older and of newer versions. */
const FEED_DEPTHS = [400, 800] as const;
/** Mastodon counts requests with a since_id, min_id or max_id apart: 300 per 15 minutes. */
const THROTTLES = [{ requests: 300, windowMs: 900_000, counts: 'pages' }] as const;
/** Mastodon's own limit for `id[]`. */
const BULK = 20;
/** A server that did not say what it is, is not asked on every poll. */
const ASK_AGAIN_MS = 300_000;

export interface Describer {
  /** Asks until the server told once. Throws UpstreamError while it does not answer. */
  describe(signal?: AbortSignal | undefined): Promise<UpstreamDescription>;
  /** What can be said now: asks at most every 5 minutes, never throws for an upstream's failure. */
  describeOrGuess(signal?: AbortSignal | undefined): Promise<UpstreamDescription>;
  /** A page's items: what the scheme of a server without a name is told from. */
  sawIds(items: readonly unknown[]): void;
}

export function createDescriber(spec: MastodonSpec, client: Client, timeline: URL): Describer {
  let described: UpstreamDescription | undefined;
  let failedAtMs: number | undefined;
  let seen: readonly string[] = [];

  async function ask(url: URL, signal: AbortSignal | undefined): Promise<unknown> {
    return readJson(await client.get(url, signal), url, client.now());
  }

  async function describe(signal?: AbortSignal | undefined): Promise<UpstreamDescription> {
    if (described) return described;
    try {
      const software = await identifySoftware((path, query) => ask(client.url(path, query), signal));
      if (!software && !spec.idScheme && seen.length === 0) seen = idsOf(await ask(timeline, signal));
      described = describeAs(spec, software, seen);
      return described;
    } catch (error) {
      failedAtMs = client.now();
      throw error;
    }
  }

  return {
    describe,
    async describeOrGuess(signal) {
      const tooSoon = failedAtMs !== undefined && client.now() < failedAtMs + ASK_AGAIN_MS;
      if (!described && !tooSoon) {
        await describe(signal).catch((error: unknown) => {
          if (!(error instanceof UpstreamError)) throw error;
        });
      }
      return described ?? describeAs(spec, undefined, seen);
    },
    sawIds(items) {
      const ids = idsOf(items);
      if (ids.length > 0) seen = ids;
    },
  };
}

function describeAs(spec: MastodonSpec, software: Software | undefined, ids: readonly string[]): UpstreamDescription {
  const name = software && [software.name, software.version].filter(Boolean).join(' ');
  const proper = isMastodonProper(software);
  const isFeed = spec.timeline.type === 'home' || spec.timeline.type === 'list';
  return {
    software: name,
    idScheme: spec.idScheme ?? recogniseIdScheme({ software: proper ? 'mastodon' : name, ids }),
    roundsIds: proper && isFeed,
    pageSize: PAGE_SIZE,
    feedDepths: proper && isFeed ? FEED_DEPTHS : undefined,
    sinceId: true,
    before: true,
    bulk: proper && software && isAtLeast(software, 4, 3) ? BULK : 1,
    // It answers with whatever copy any of its accounts still holds.
    aliveById: software?.name !== 'snac',
    throttles: proper ? THROTTLES : [],
  };
}

function idsOf(items: unknown): readonly string[] {
  if (!Array.isArray(items)) return [];
  const ids = items.slice(0, PAGE_SIZE).map((item) => Object(item).id);
  return ids.filter((id) => typeof id === 'string');
}
