import type { JsonObject } from './recording.ts';

/** The usual poller, to compare with: `since_id = newest id seen`, paging down to it. Everything that it ever saw, by id. */
export interface PlainPoller {
  poll(): Promise<void>;
  readonly seen: ReadonlySet<string>;
}

/** Polls a public timeline of Mastodon's API at `url`. A failed poll is tried again as if it never was. */
export function createPlainPoller(url: string, fetchPage: typeof fetch = fetch): PlainPoller {
  const seen = new Set<string>();
  let newest = '';

  async function page(sinceId: string, maxId: string): Promise<readonly string[]> {
    const query = new URLSearchParams({ local: 'true', limit: '40' });
    if (sinceId !== '') query.set('since_id', sinceId);
    if (maxId !== '') query.set('max_id', maxId);
    const response = await fetchPage(`${url}/api/v1/timelines/public?${query}`);
    const posts = (await response.json()) as readonly JsonObject[];
    return posts.map((post) => String(post.id));
  }

  return {
    seen,
    async poll() {
      const sinceId = newest;
      let ids = await page(sinceId, '');
      newest = ids.at(0) ?? newest;
      while (ids.length > 0) {
        for (const id of ids) seen.add(id);
        ids = sinceId === '' ? [] : await page(sinceId, ids.at(-1) ?? '');
      }
    },
  };
}
