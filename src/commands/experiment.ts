import { randomUUID } from 'node:crypto';
import { systemClock } from '../clock.ts';
import { loadSettings } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { createObserver, type Evidence, type Leak, type Observer } from '../experiment/observer.ts';
import { idScheme } from '../ids/id-scheme.ts';
import type { Source } from '../source.ts';
import { buildSources } from '../sources.ts';
import { openStore } from '../stores/registry.ts';
import type { Store } from '../stores/store.ts';
import { createPollers } from '../timeline/pollers.ts';
import { createHttpClient } from '../upstreams/http.ts';
import type { CommandArgs } from './command.ts';
import { isoTime, printable, table } from './print.ts';
import { untilSignal } from './until-signal.ts';

const DEFAULT_MINUTES = 10;
const PROGRESS_MS = 30_000;
/** So long the last poll may take. */
const LAST_POLL_MS = 30_000;
/** Ids of a reply that are printed as evidence. */
const SHOWN_IDS = 5;

/**
 * Runs the usual pollers beside Sluice's own against one configured source, on one schedule, and reports every leak with the two replies
 * that prove it. Ends after `--minutes`, or at a signal. Gives 1 when Sluice itself missed a post. @throws ConfigError, UpstreamError
 */
export async function experiment(args: CommandArgs, stopped: Promise<unknown> = untilSignal()): Promise<number> {
  const { flags, env, cwd, version, stdout } = args;
  const loaded = await loadSettings({ file: flags.config, cwd, env });
  if (loaded === undefined) throw new ConfigError(`no sluice.config.* in ${cwd}`);
  const { settings } = loaded;
  const key = (flags.source ?? '').replace(/^source:/, '');
  const http = createHttpClient({ version, clock: systemClock });
  const store = await openStore('sqlite::memory:');
  try {
    const source = buildSources(settings, { http, clock: systemClock }).find((candidate) => candidate.key === key);
    if (source === undefined) {
      throw new ConfigError(
        `--source: required one of ${settings.sources.map((one) => one.key).join(', ')}, got ${key}`,
      );
    }
    const minutes = flags.minutes ?? DEFAULT_MINUTES;
    const { observer, observed } = await observe(source, stdout);
    stdout(`${source.key}: ${minutes} min, polled at most every ${source.polling.minIntervalMs / 1000} s`);
    await run({ source: observed, observer, store, minutes, stopped, stdout });
    return await report({ source: observed, observer, store, stdout });
  } finally {
    await http.close();
    await store.close();
  }
}

async function observe(source: Source, stdout: (line: string) => void) {
  const description = await source.upstream.describe();
  const name = source.polling.idScheme ?? description.idScheme;
  if (!description.sinceId) {
    throw new ConfigError(`--source: required a timeline with since_id, but ${source.key} has none`);
  }
  const observer = createObserver({
    upstream: source.upstream,
    scheme: idScheme(name),
    pageSize: description.pageSize,
    clock: systemClock,
    onLeak: (leak) => {
      for (const line of evidence(leak)) stdout(line);
    },
  });
  return { observer, observed: { ...source, upstream: observer.upstream } };
}

async function run(experiment: {
  source: Source;
  observer: Observer;
  store: Store;
  minutes: number;
  stopped: Promise<unknown>;
  stdout: (line: string) => void;
}): Promise<void> {
  const { source, observer, store, minutes, stdout } = experiment;
  const pollers = createPollers({
    sources: [source],
    store,
    clock: systemClock,
    holder: randomUUID(),
    keep: { keepHours: 168, keepEntries: 100_000 },
    log: stdout,
  });
  const over = new AbortController();
  void experiment.stopped.then(() => over.abort());
  const endMs = systemClock.now() + minutes * 60_000;
  let tellMs = systemClock.now() + PROGRESS_MS;
  pollers.start();
  while (!over.signal.aborted && systemClock.now() < endMs) {
    // A reader who asks keeps the source watched: polled as often as its least interval allows.
    await pollers.refresh([source.logId], 0);
    const waitMs = Math.min(source.polling.minIntervalMs, endMs - systemClock.now());
    // This timer holds the process; the clock's own do not.
    const hold = setTimeout(() => {}, waitMs + 1000);
    await systemClock.sleep(waitMs, over.signal);
    clearTimeout(hold);
    if (systemClock.now() < tellMs) continue;
    tellMs += PROGRESS_MS;
    const { polls, seen, leaks } = observer;
    stdout(
      `${Math.ceil((endMs - systemClock.now()) / 60_000)} min left: ${polls} polls, ${seen.size} posts, ${leaks.length} leaks`,
    );
  }
  // A poll under way is let to its end: what it found would count as missed.
  await pollers.refresh([source.logId], LAST_POLL_MS);
  await pollers.stop();
}

function evidence({ id, missedBy, passed, shown, lateMs }: Leak): readonly string[] {
  const late = lateMs === undefined ? `${shown.at} places below the top` : `${lateMs} ms below the newest id`;
  return [
    `LEAK ${printable(id)}, ${late}: missed by ${missedBy.join('; ')}`,
    ...(passed ? [`  passed: ${describe(passed, id)}`] : []),
    `  shown:  ${describe(shown, id)}`,
  ];
}

/** A reply in one line: when, what was asked, and the ids around the one that matters. */
function describe({ atMs, kind, sinceId, ids, at }: Evidence, id: string): string {
  const from = Math.max(0, at - 2);
  const around = ids.slice(from, from + SHOWN_IDS).map((other) => (other === id ? `[${other}]` : other));
  const asked = kind === 'rescan' ? 'a rescan' : `since_id=${sinceId ?? ''}`;
  return printable(`${isoTime(atMs)} ${asked}: ${ids.length} posts: ${from > 0 ? '… ' : ''}${around.join(' ')} …`);
}

async function report(experiment: {
  source: Source;
  observer: Observer;
  store: Store;
  stdout: (line: string) => void;
}): Promise<number> {
  const { source, observer, store, stdout } = experiment;
  const { baselines, seen, leaks, polls, requests } = observer;
  const postIds = [...seen.values()];
  const known = await store.timelines.known(source.logId, postIds);
  const missed = postIds.filter((id) => !known.has(id)).length;
  const { counts } = await store.timelines.readLog(source.logId);
  const uncommitted = (await store.timelines.readStatus(source.logId))?.uncommitted ?? {
    requests: 0,
    duplicatesDropped: 0,
  };
  // A post that is listed again higher up is there for them after all.
  const lostBy = ({ name, knows }: (typeof baselines)[number]) =>
    leaks.filter(({ id, missedBy }) => missedBy.includes(name) && !knows(id)).length;
  stdout('');
  stdout(`${seen.size} posts in ${polls} shared polls, ${requests} requests in all`);
  for (const line of table([
    ['poller', 'missed', 'requests', 'read again'],
    [
      'Sluice',
      String(missed),
      String(counts.requests + uncommitted.requests),
      String(counts.duplicatesDropped + uncommitted.duplicatesDropped),
    ],
    ...baselines.map((baseline) => [
      baseline.name,
      String(lostBy(baseline)),
      String(baseline.counts.requests),
      String(baseline.counts.readAgain),
    ]),
  ])) {
    stdout(line);
  }
  if (missed > 0) stdout('Sluice had not read all of it when it was ended: the last poll, a gap, or a leak of its own');
  return missed > 0 ? 1 : 0;
}
