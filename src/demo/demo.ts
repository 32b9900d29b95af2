import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Source } from '../source.ts';
import type { TimelineStore } from '../stores/timeline-store.ts';
import { startDemoServer } from './demo-server.ts';
import { createMastodonDemo, snowflakeIds, ulids } from './mastodon-demo.ts';
import { createPlainPoller } from './plain-poller.ts';
import { readRecording } from './recording.ts';
import { keepScore, type Score } from './scoreboard.ts';
import { createDemoScript, type DemoNetworks } from './script.ts';
import { createTwitterDemo } from './twitter-demo.ts';

/** Upstreams on loopback that replay recordings, and the settings of a gateway over them. */
export interface Demo {
  readonly config: Config;
  /** Runs a plain since_id poller beside the gateway and tells the score whenever it changed, at most every 10 s. */
  watch(options: { sources: readonly Source[]; timelines: TimelineStore; tell: (score: Score) => void }): void;
  close(): Promise<void>;
}

const PLAIN_POLL_SECONDS = 2;
const SCORE_SECONDS = 10;
const MASTODON_SOURCE = 'https://github.com/mastodon/mastodon';

export async function startDemo(clock: Clock): Promise<Demo> {
  const networks = createNetworks();
  const script = createDemoScript(networks, clock.now);
  const startedAtMs = clock.now();
  script.prologue(startedAtMs);

  const limits = () => mastodonLimits(clock.now());
  const servers = {
    town: await startDemoServer(networks.town.answer, limits),
    square: await startDemoServer(script.square, limits),
    pond: await startDemoServer(networks.pond.answer, limits),
    harbour: await startDemoServer(script.harbour, limits),
    birds: await startDemoServer(networks.birds.answer, () => twitterLimits(clock.now())),
  };

  const stopped = new AbortController();
  const everySecond: ((second: number) => Promise<void> | void)[] = [() => script.step(clock.now())];
  const ticking = tick(clock, stopped.signal, everySecond);

  return {
    config: demoConfig(Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, url]))),
    watch({ sources, timelines, tell }) {
      const source = sources.find(({ key }) => key === 'town');
      if (!source) return;
      const plain = createPlainPoller(servers.town.url);
      let told = '';
      everySecond.push(async (second) => {
        if (second % PLAIN_POLL_SECONDS === 0) await plain.poll().catch(() => undefined);
        if (second % SCORE_SECONDS !== 0) return;
        const nowMs = clock.now();
        const score = await keepScore({
          source,
          timelines,
          replay: networks.town.replay,
          plain,
          fromMs: startedAtMs + 1,
          nowMs,
        });
        const line = `${score.missedByPlain} ${score.missedBySluice}`;
        if (line !== told) tell(score);
        told = line;
      });
    },
    async close() {
      stopped.abort();
      await ticking;
      await Promise.all(Object.values(servers).map((server) => server.close()));
    },
  };
}

function createNetworks(): DemoNetworks {
  const mastodon = (name: string, version: string) =>
    createMastodonDemo({
      host: `${name}.example`,
      version,
      sourceUrl: MASTODON_SOURCE,
      recording: readRecording(name),
      newId: snowflakeIds,
    });
  return {
    town: mastodon('town', '4.4.2'),
    square: mastodon('square', '4.4.2'),
    harbour: mastodon('harbour', '4.3.9'),
    pond: createMastodonDemo({
      host: 'pond.example',
      version: '0.19.2+git-90851fc',
      sourceUrl: 'https://codeberg.org/superseriousbusiness/gotosocial',
      recording: readRecording('pond'),
      newId: ulids,
    }),
    birds: createTwitterDemo(readRecording('birds')),
  };
}

function demoConfig(urls: Readonly<Record<string, string>>): Config {
  const mastodon = (name: string) => ({
    kind: 'mastodon' as const,
    url: urls[name] ?? '',
    host: `${name}.example`,
    timeline: { type: 'public' as const, only: 'local' as const },
    minIntervalMs: 1000,
  });
  return {
    sources: {
      town: mastodon('town'),
      square: mastodon('square'),
      pond: mastodon('pond'),
      harbour: mastodon('harbour'),
      birds: {
        kind: 'twitter',
        api: '2',
        url: urls.birds ?? '',
        timeline: { type: 'user', userId: '2244994945' },
        token: 'demo',
        minIntervalMs: 2000,
      },
    },
    store: 'sqlite::memory:',
    auth: { kind: 'none', userId: 'demo' },
    ids: { enabled: true },
    // Short, so that the first page moves within a minute.
    forYou: { currentTtlSeconds: 15 },
    polling: { idleIntervalMs: 3000 },
  };
}

async function tick(
  clock: Clock,
  signal: AbortSignal,
  everySecond: readonly ((second: number) => Promise<void> | void)[],
): Promise<void> {
  for (let second = 1; !signal.aborted; second++) {
    await clock.sleep(1000, signal);
    if (signal.aborted) return;
    for (const action of everySecond) await action(second);
  }
}

function mastodonLimits(nowMs: number): Readonly<Record<string, string>> {
  const resetAtMs = Math.ceil((nowMs + 1) / 300_000) * 300_000;
  return {
    'x-ratelimit-limit': '3000',
    'x-ratelimit-remaining': '2900',
    'x-ratelimit-reset': new Date(resetAtMs).toISOString(),
  };
}

function twitterLimits(nowMs: number): Readonly<Record<string, string>> {
  return {
    'x-rate-limit-limit': '9000',
    'x-rate-limit-remaining': '8900',
    'x-rate-limit-reset': String(Math.ceil((nowMs + 1) / 900_000) * 900),
  };
}
