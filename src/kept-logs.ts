import type { Clock } from './clock.ts';
import { ConfigError, StoreUnavailableError } from './errors.ts';
import type { Source } from './source.ts';
import type { NoteStore } from './stores/note-store.ts';
import type { TimelineStore } from './stores/timeline-store.ts';

interface Deps {
  readonly notes: NoteStore;
  readonly timelines: Pick<TimelineStore, 'nameLogs' | 'listLogs' | 'dropLog'>;
  readonly sources: readonly Source[];
}

/** How often a gateway says which logs its settings name. */
const NAME_EVERY_MS = 3_600_000;

/**
 * Says now and then which logs the settings name, and drops those that no gateway has named for `keepMs`: what is left of
 * sources that went from the settings, and of former tokens' accounts. Until `signal`; never rejects. `log` is told of each.
 */
export async function keepNamedLogs(
  deps: Deps & { clock: Clock; keepMs: number; signal: AbortSignal; log: (line: string) => void },
): Promise<void> {
  const { clock, signal, log } = deps;
  while (!signal.aborted) {
    try {
      await nameAndDrop(deps);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      log(`logs that no source names could not be looked for: ${error.message}`);
    }
    await clock.sleep(NAME_EVERY_MS, signal);
  }
}

async function nameAndDrop({
  notes,
  timelines,
  sources,
  clock,
  keepMs,
  log,
}: Parameters<typeof keepNamedLogs>[0]): Promise<void> {
  const nowMs = clock.now();
  await writeKeys(notes, sources);
  const named = new Set(sources.map(({ logId }) => logId));
  await timelines.nameLogs([...named], nowMs);
  const others = (await timelines.listLogs()).filter(({ logId }) => !named.has(logId));
  // Logs of an earlier release were never named: their time begins.
  const unnamed = others.filter(({ namedAtMs }) => namedAtMs === undefined).map(({ logId }) => logId);
  if (unnamed.length > 0) await timelines.nameLogs(unnamed, nowMs);
  for (const { logId, namedAtMs } of others) {
    // Who names it may have missed an hour.
    if (namedAtMs === undefined || nowMs - namedAtMs < keepMs + 2 * NAME_EVERY_MS) continue;
    if (await timelines.dropLog(logId))
      log(`dropped the log ${logId}: no source has named it for ${keepMs / 3_600_000} h`);
  }
}

const noteName = (key: string) => `source:${key}`;

/** So that a key which went from the settings can still be purged. */
async function writeKeys(notes: NoteStore, sources: readonly Source[]): Promise<void> {
  const kept = await notes.read(sources.map(({ key }) => noteName(key)));
  for (const { key, logId } of sources) {
    if (kept.get(noteName(key))?.body !== logId) await notes.write({ name: noteName(key), body: logId });
  }
}

/**
 * Drops all that the source of that settings key has brought, at once; true when there was something. It may have gone
 * from the settings. @throws ConfigError for a key that no gateway ever named, and where another source reads the same timeline.
 */
export async function purgeSource(key: string, { notes, timelines, sources }: Deps): Promise<boolean> {
  const logId = (await notes.read([noteName(key)])).get(noteName(key))?.body;
  if (logId === undefined) throw new ConfigError(`--source: required a source that a gateway has read, got ${key}`);
  const other = sources.find((source) => source.logId === logId && source.key !== key);
  if (other) throw new ConfigError(`--source: sources.${other.key} reads the same timeline as ${key}`);
  const isDropped = await timelines.dropLog(logId);
  if (!sources.some((source) => source.key === key)) await notes.remove([noteName(key)]);
  return isDropped;
}
