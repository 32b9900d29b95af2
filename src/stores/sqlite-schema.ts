import type { DatabaseSync } from 'node:sqlite';
import { ConfigError } from '../errors.ts';

/** `SLUI`: tells our files from those of other programs. @see https://www.sqlite.org/pragma.html#pragma_application_id */
export const APPLICATION_ID = 0x534c5549;

// Statements on `records` and `shown` name their index: without statistics SQLite takes "of this log" for narrow enough.
// Each entry takes a file from the version of its index to the next. Never edit one that was released: add another.
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE logs (
    log INTEGER PRIMARY KEY,
    log_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL DEFAULT 0,
    head_ms INTEGER, head_n INTEGER,
    trimmed_ms INTEGER, trimmed_n INTEGER,
    watermark_id TEXT, watermark_key TEXT,
    floor_key TEXT,
    entries INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT '{}'
  ) STRICT;

  CREATE TABLE statuses (log_id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE records (
    log INTEGER NOT NULL,
    ms INTEGER NOT NULL, n INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('entry', 'edit', 'remove')),
    post_id TEXT NOT NULL,
    uri TEXT NOT NULL,
    sort_at INTEGER NOT NULL,
    arrived_at INTEGER NOT NULL,
    late INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (log, ms, n)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX entries_by_time ON records (log, sort_at, post_id) WHERE kind = 'entry' AND removed = 0;
  CREATE INDEX entries_by_uri ON records (log, uri) WHERE kind = 'entry';
  CREATE INDEX entries_by_position ON records (log, ms, n) WHERE kind = 'entry';
  CREATE INDEX records_by_post ON records (log, post_id);

  CREATE TABLE known (
    log INTEGER NOT NULL,
    post_id TEXT NOT NULL,
    upstream_id TEXT NOT NULL,
    order_key TEXT NOT NULL,
    revision TEXT NOT NULL,
    sort_at INTEGER NOT NULL,
    arrived_at INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (log, post_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX known_by_order ON known (log, order_key, post_id);

  CREATE TABLE posts (
    id TEXT PRIMARY KEY,
    read_at INTEGER NOT NULL,
    gone_at INTEGER,
    sweep_at INTEGER,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX posts_to_sweep ON posts (sweep_at) WHERE sweep_at IS NOT NULL;

  CREATE TABLE nested (
    child TEXT NOT NULL, parent TEXT NOT NULL, PRIMARY KEY (child, parent)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX nested_by_parent ON nested (parent);

  CREATE TABLE shown (
    post_id TEXT NOT NULL,
    log INTEGER NOT NULL,
    via TEXT NOT NULL,
    shown_at INTEGER NOT NULL,
    PRIMARY KEY (post_id, log, via)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX shown_by_via ON shown (log, via);
  CREATE INDEX shown_by_time ON shown (log, shown_at);

  CREATE TABLE instances (
    viewer TEXT NOT NULL,
    feed_id TEXT NOT NULL,
    generated_at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    references_until INTEGER NOT NULL,
    of_feed TEXT, of_offset INTEGER,
    body BLOB NOT NULL,
    PRIMARY KEY (viewer, feed_id)
  ) STRICT;
  CREATE INDEX instances_by_expiry ON instances (expires_at);
  CREATE UNIQUE INDEX successors ON instances (viewer, of_feed, of_offset) WHERE of_feed IS NOT NULL;

  CREATE TABLE aliases (
    viewer TEXT PRIMARY KEY, feed_id TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX aliases_by_expiry ON aliases (expires_at);

  CREATE TABLE story_references (
    hash TEXT PRIMARY KEY, key TEXT NOT NULL, post_id TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX references_by_expiry ON story_references (expires_at);
  CREATE INDEX references_by_post ON story_references (post_id);

  CREATE TABLE leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX leases_by_expiry ON leases (expires_at);

  CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // known.removed is 0 or when the post was removed, Unix ms: the 1 of earlier files is long ago.
  `
  CREATE TABLE sweeps (log INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
  `,
  `
  CREATE TABLE generators (
    number INTEGER PRIMARY KEY, holder TEXT NOT NULL, expires_at INTEGER NOT NULL, mark INTEGER NOT NULL
  ) STRICT;
  `,
  // logs.bytes is the sum of shown.bytes, which are the body's when this log showed it last.
  `
  ALTER TABLE logs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE shown ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE shown SET bytes = coalesce((SELECT octet_length(body) FROM posts WHERE id = post_id), 0);
  UPDATE logs SET bytes = coalesce((SELECT sum(bytes) FROM shown WHERE shown.log = logs.log), 0);
  CREATE TRIGGER shown_more AFTER INSERT ON shown BEGIN
    UPDATE logs SET bytes = bytes + new.bytes WHERE log = new.log;
  END;
  CREATE TRIGGER shown_again AFTER UPDATE OF bytes ON shown BEGIN
    UPDATE logs SET bytes = bytes + new.bytes - old.bytes WHERE log = new.log;
  END;
  CREATE TRIGGER shown_no_more AFTER DELETE ON shown BEGIN
    UPDATE logs SET bytes = bytes - old.bytes WHERE log = old.log;
  END;
  `,
  // Bodies that a single answer had marked as gone are read again. quotas.full_at is in µs.
  `
  DELETE FROM nested WHERE parent IN (SELECT id FROM posts WHERE gone_at IS NOT NULL);
  DELETE FROM posts WHERE gone_at IS NOT NULL;
  ALTER TABLE posts DROP COLUMN gone_at;

  ALTER TABLE logs ADD COLUMN named_at INTEGER;
  ALTER TABLE logs ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
  INSERT INTO logs (log_id) SELECT log_id FROM statuses WHERE true ON CONFLICT DO NOTHING;

  ALTER TABLE leases ADD COLUMN taken_at INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE notes (name TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE quotas (name TEXT PRIMARY KEY, full_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX quotas_by_time ON quotas (full_at);
  `,
  // Of an entry the position of the record that removed it: mostly a removal, else the next entry of its post.
  `
  ALTER TABLE records ADD COLUMN removed_ms INTEGER;
  ALTER TABLE records ADD COLUMN removed_n INTEGER;
  UPDATE records SET (removed_ms, removed_n) = (
    SELECT later.ms, later.n FROM records AS later INDEXED BY records_by_post
      WHERE later.log = records.log AND later.post_id = records.post_id AND later.kind <> 'edit'
        AND (later.ms, later.n) > (records.ms, records.n)
      ORDER BY later.ms, later.n LIMIT 1
  ) WHERE removed = 1;
  UPDATE records SET removed_ms = 0, removed_n = 0 WHERE removed = 1 AND removed_ms IS NULL;
  DROP INDEX entries_by_time;
  CREATE INDEX entries_by_time ON records (log, sort_at, post_id) WHERE kind = 'entry' AND removed_ms IS NULL;
  ALTER TABLE records DROP COLUMN removed;
  `,
];

/** The version that this release writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Brings a file to SCHEMA_VERSION, all of it or nothing; two processes may do it at once. `upTo` is for tests of older files.
 * Throws ConfigError for a file of a newer release or of another program.
 */
export function migrate(connection: DatabaseSync, file: string, upTo = SCHEMA_VERSION): void {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const version = pragma(connection, 'user_version');
    requireOurs(connection, file, version);
    for (const migration of MIGRATIONS.slice(version, upTo)) connection.exec(migration);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${upTo}`);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function requireOurs(connection: DatabaseSync, file: string, version: number): void {
  const empty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!empty && pragma(connection, 'application_id') !== APPLICATION_ID) {
    throw new ConfigError(
      `store: ${file} is a database of another program; name a file that Sluice made, or a new one`,
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new ConfigError(
      `store: ${file} was written by a newer Sluice: required schema version ${SCHEMA_VERSION} or lower, got ${version}`,
    );
  }
}

function pragma(connection: DatabaseSync, name: string): number {
  return Number(Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}
