import { readFileSync } from 'node:fs';
import type { Clock } from '../src/clock.ts';
import type { Source, SourcePolling } from '../src/source.ts';
import type { HttpClient } from '../src/upstreams/http.ts';
import { createMastodon } from '../src/upstreams/mastodon.ts';
import { simulatedId } from '../test/simulated-ids.ts';
import { createSimulatedTimeline } from '../test/simulated-timeline.ts';

/** A source whose upstream is the real adapter, over replies that are made in this process. */
export interface SimulatedSource {
  readonly source: Source;
  /** Publishes posts made in the last `spanMs`, evenly. */
  publish(count: number, spanMs: number): void;
  /** The bodies of all pages that were answered since the last call. */
  takeBodies(): readonly string[];
}

/** Real statuses, some 2 kB each. */
const TEMPLATES: readonly Record<string, unknown>[] = JSON.parse(
  readFileSync(new URL('../test/recordings/gotosocial/046-public-limit5.json', import.meta.url), 'utf8'),
).body;

export function createSimulatedSource(
  key: string,
  clock: Clock,
  polling: Partial<SourcePolling> = {},
): SimulatedSource {
  const host = `${key}.example`;
  const timeline = createSimulatedTimeline({ pageSize: 40 });
  const statuses = new Map<string, string>();
  let salt = 0;
  let bodies: string[] = [];

  const http: HttpClient = {
    async get({ url }) {
      const reply = { status: 200, headers: {}, sentAtMs: clock.now() };
      if (url.pathname !== '/api/v1/timelines/public') {
        const instance = { domain: host, version: '4.3.1', source_url: 'https://github.com/mastodon/mastodon' };
        return { ...reply, bodyText: JSON.stringify(instance) };
      }
      const asked = (name: string) => url.searchParams.get(name) ?? undefined;
      const page = timeline.page({ sinceId: asked('since_id'), maxId: asked('max_id'), limit: 40 }, clock.now());
      const bodyText = `[${page.posts.map(({ id }) => statuses.get(id)).join(',')}]`;
      bodies.push(bodyText);
      const next = `<https://${host}/api/v1/timelines/public?max_id=${page.next}>; rel="next"`;
      const headers: Record<string, string> = page.next === undefined ? {} : { link: next };
      return { ...reply, headers, bodyText };
    },
    close: async () => {},
  };
  const upstream = createMastodon(
    { kind: 'mastodon', url: `https://${host}`, host, keepPrivate: false, timeline: { type: 'public' } },
    { http, clock },
  );

  return {
    source: {
      key,
      logId: `log-of-${key}`,
      network: 'mastodon',
      host,
      url: `https://${host}`,
      timeline: 'public',
      audience: 'anyone',
      // What the server is known to throttle is not what is measured.
      upstream: { ...upstream, describe: async () => ({ ...(await upstream.describe()), throttles: [] }) },
      credentialId: host,
      polling: {
        minIntervalMs: 5000,
        idleIntervalMs: 60_000,
        sweepIntervalMs: 300_000,
        overlapMs: 60_000,
        overlap: 'latest',
        pollWhen: 'always',
        ownInterval: false,
        ownOverlap: true,
        ...polling,
      },
    },
    publish(count, spanMs) {
      for (let n = count; n > 0; n -= 1) {
        const atMs = Math.floor(clock.now() - (n * spanMs) / (count + 1));
        salt += 1;
        const id = simulatedId('mastodon', atMs, salt);
        const uri = `https://${host}/posts/${id}`;
        const made = { id, uri, url: uri, created_at: new Date(atMs).toISOString() };
        statuses.set(id, JSON.stringify({ ...TEMPLATES[salt % TEMPLATES.length], ...made }));
        timeline.put({ id, atMs, visibleAtMs: atMs, text: '' });
      }
    },
    takeBodies() {
      const taken = bodies;
      bodies = [];
      return taken;
    },
  };
}
