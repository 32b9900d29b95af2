import type { Clock } from '../clock.ts';
import { idScheme } from '../ids/id-scheme.ts';
import type { IdSchemeName } from '../post.ts';
import { createClient, type Query } from './client.ts';
import { parseTime } from './fields.ts';
import { createPageFitter } from './fit-page.ts';
import type { HttpClient, HttpReply } from './http.ts';
import { linkParameter } from './link-header.ts';
import { askAccount } from './mastodon-account.ts';
import { createDescriber, PAGE_SIZE } from './mastodon-describe.ts';
import { fetchStatuses } from './mastodon-fetch.ts';
import { toPost } from './mastodon-status.ts';
import { postsOf } from './posts-of.ts';
import { readRateLimits } from './rate-limit.ts';
import { malformed, readJson } from './reply.ts';
import type { MastodonSpec, MastodonTimeline } from './spec.ts';
import type { Upstream, UpstreamPage } from './upstream.ts';

/**
 * A timeline of Mastodon, or of a server that speaks its API. A page's `next` is a max_id.
 * @see https://docs.joinmastodon.org/methods/timelines/
 */
export function createMastodon(spec: MastodonSpec, deps: { http: HttpClient; clock: Clock }): Upstream {
  const client = createClient(spec, deps);
  const { path, query } = timelineRequest(spec.timeline);
  const describer = createDescriber(spec, client, client.url(path, query));

  const fit = createPageFitter(PAGE_SIZE);

  async function getPage(limit: number, place: Query, signal: AbortSignal | undefined) {
    const url = client.url(path, [...query, ['limit', String(limit)], ...place]);
    const reply = await client.get(url, signal);
    const items = (await isUnusedTag(reply, signal)) ? [] : readJson(reply, url, client.now());
    if (!Array.isArray(items)) throw malformed(url, 'answered with JSON that is not a list', reply.status);
    return { reply, items };
  }

  /** GoToSocial knows no tag that nobody used yet. */
  async function isUnusedTag({ status }: HttpReply, signal: AbortSignal | undefined): Promise<boolean> {
    if (spec.timeline.type !== 'tag' || status !== 404) return false;
    return /^gotosocial\b/.test((await describer.describeOrGuess(signal)).software ?? '');
  }

  return {
    describe: describer.describe,
    account: async (signal) => (spec.token === undefined ? undefined : askAccount(client, signal)),
    async readPage({ sinceId, next, before, limit = PAGE_SIZE, signal }): Promise<UpstreamPage> {
      const place: Query = [
        ['since_id', sinceId],
        ['max_id', next ?? before],
      ];
      const { reply, items } = await fit(limit, (fitting) => getPage(fitting, place, signal));
      describer.sawIds(items);
      const description = await describer.describeOrGuess(signal);
      const { idScheme } = description;
      const context = { host: spec.host, idScheme, arrivedAtMs: reply.sentAtMs };
      const page = await postsOf(items, {
        idOf,
        toPost: (item) => toPost(item, context),
        keepPrivate: spec.keepPrivate,
        clock: client,
      });
      const older = olderThan(reply, page.ids, idScheme);
      return {
        ...page,
        // A server that does not know max_id gives the same page again: then nothing older can be had.
        next: older === next ? undefined : older,
        partial: reply.status === 206,
        ...readRateLimits(reply.headers, client.now()),
        sentAtMs: reply.sentAtMs,
        serverDateMs: parseTime(reply.headers.date ?? ''),
      };
    },
    async fetchPosts(upstreamIds, signal) {
      const description = await describer.describeOrGuess(signal);
      const context = { host: spec.host, idScheme: description.idScheme };
      const { bulk } = description;
      return fetchStatuses(client, upstreamIds, { context, bulk, keepPrivate: spec.keepPrivate, signal });
    },
  };
}

function timelineRequest(timeline: MastodonTimeline): { path: string; query: Query } {
  switch (timeline.type) {
    case 'home':
      return { path: '/api/v1/timelines/home', query: [] };
    case 'public':
      return { path: '/api/v1/timelines/public', query: timeline.only ? [[timeline.only, 'true']] : [] };
    case 'tag':
      return { path: `/api/v1/timelines/tag/${encodeURIComponent(timeline.tag.replace(/^#/, ''))}`, query: [] };
    case 'list':
      return { path: `/api/v1/timelines/list/${encodeURIComponent(timeline.id)}`, query: [] };
    case 'account':
      return { path: `/api/v1/accounts/${encodeURIComponent(timeline.id)}/statuses`, query: [] };
  }
}

/**
 * The max_id of what is older: the Link header's, else the last item's id. Nothing is older than an empty page.
 * Hollo names the first post of the next page, which an exclusive max_id would skip: then the last item's id it is.
 */
function olderThan(reply: HttpReply, ids: readonly string[], name: IdSchemeName): string | undefined {
  const last = ids.at(-1);
  const linked = linkParameter(reply.headers.link, 'next', 'max_id');
  if (last === undefined || linked === undefined) return last;
  const { orderKey } = idScheme(name);
  return name !== 'opaque' && orderKey(linked) < orderKey(last) ? last : linked;
}

function idOf(item: unknown): unknown {
  return Object(item).id;
}
