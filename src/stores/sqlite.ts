import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { cachedFeeds } from './cached-feeds.ts';
import { localSignals } from './local-signals.ts';
import { sqliteDatabase } from './sqlite-database.ts';
import { deleteExpiredFeeds, sqliteFeeds } from './sqlite-feeds.ts';
import { sqliteGenerators } from './sqlite-generators.ts';
import { deleteExpiredLeases, sqliteLeases } from './sqlite-leases.ts';
import { sqliteNotes } from './sqlite-notes.ts';
import { deleteUnneededPosts, sqlitePosts } from './sqlite-posts.ts';
import { deleteFullQuotas, sqliteQuotas } from './sqlite-quotas.ts';
import { migrate } from './sqlite-schema.ts';
import { sqliteSecrets } from './sqlite-secrets.ts';
import { sqliteTimelines } from './sqlite-timelines.ts';
import type { Store } from './store.ts';

/** How long a write waits for another process that is writing. It waits in place: nothing else of this process runs. */
const BUSY_TIMEOUT_MS = 5_000;

/** How many rows of a kind one call looks at: some ten milliseconds of work. */
const EXPIRED_ROWS = 500;

/**
 * The embedded store: one SQLite file in WAL mode, shared by any number of processes of one machine, or `:memory:`.
 * What was acknowledged survives kill -9. `maxPages` bounds the file (in pages of 4 KiB); `busyTimeoutMs` is how long a write waits for another process.
 * Throws ConfigError for a file that cannot be opened, is no database, or is not of this release or an older one.
 */
export async function openSqliteStore(options: {
  file: string;
  clock?: Clock;
  maxPages?: number;
  busyTimeoutMs?: number;
}): Promise<Store> {
  const { file, clock = systemClock, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const connection = await connect(file, clock, busyTimeoutMs);
  if (options.maxPages !== undefined) connection.exec(`PRAGMA max_page_count = ${Math.trunc(options.maxPages)}`);
  const db = sqliteDatabase(connection, busyTimeoutMs);
  const feeds = cachedFeeds(sqliteFeeds(db));
  const posts = sqlitePosts(db);
  return {
    feeds,
    timelines: sqliteTimelines(db),
    posts,
    leases: sqliteLeases(db),
    notes: sqliteNotes(db),
    quotas: sqliteQuotas(db),
    secrets: sqliteSecrets(db),
    generators: sqliteGenerators(db),
    signals: localSignals(() => !connection.isOpen),
    ping: async () => {
      db.read((sql) => sql.get('SELECT log FROM logs WHERE log = 0'));
    },
    deleteExpired: async (nowMs) => {
      feeds.forgetUnused();
      posts.forgetUnused();
      const more = db.write((sql) => {
        return [deleteExpiredFeeds, deleteExpiredLeases, deleteFullQuotas, deleteUnneededPosts].map((deleteExpired) =>
          deleteExpired(sql, nowMs, EXPIRED_ROWS),
        );
      });
      // All of this is synchronous: a caller who goes on until nothing is left would let nobody else run.
      await nextTurn();
      return more.includes(true);
    },
    close: async () => db.close(),
  };
}

async function connect(file: string, clock: Clock, busyTimeoutMs: number): Promise<DatabaseSync> {
  if (file === '') throw new ConfigError('store: required sqlite:PATH or sqlite::memory:, got an empty path');
  const path = file === ':memory:' ? file : resolve(file);
  if (path !== ':memory:') createPrivately(path);
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(path, { timeout: busyTimeoutMs });
    await useWal(connection, path, clock);
    migrate(connection, path);
    return connection;
  } catch (error) {
    connection?.close();
    throw refusal(path, error);
  }
}

/** The file holds the secrets that sign tokens: nobody but its owner reads it. SQLite gives its side files the same mode. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Opened with O_EXCL alone: closing a descriptor of an existing file would drop this process's locks on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw refusal(path, error);
  }
}

/** Two processes that open a new file at once: one is told "locked" without the busy timeout. */
async function useWal(connection: DatabaseSync, path: string, clock: Clock): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 20) {
    try {
      const mode = connection.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
      if (mode === 'wal' || path === ':memory:') return;
      throw new ConfigError(`store: ${path} lies on a file system without shared memory, which SQLite's WAL needs`);
    } catch (error) {
      if (!isBusy(error) || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      await clock.sleep(20);
    }
  }
}

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

function primaryCode(error: unknown): number {
  return Number((error as { errcode?: unknown }).errcode) & 0xff;
}

function refusal(path: string, error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  if (primaryCode(error) === SQLITE_NOTADB) return new ConfigError(`store: ${path} is not a SQLite database`);
  return new ConfigError(`store: ${path} cannot be opened: ${(error as Error).message}`);
}
