import type { Sql, SqliteDatabase } from './sqlite-database.ts';
import type { LeaseStore } from './store.ts';

/** Holders of one machine agree about the time but for as much. */
const LONGEST_STEP_MS = 1000;

/** An expired one is as good as none, and so is one that was taken later than now: the clock was set back. */
const IS_FREE = `(expires_at <= ?1 OR taken_at > ?1 + ${LONGEST_STEP_MS})`;

/** Leases as rows. */
export function sqliteLeases(db: SqliteDatabase): LeaseStore {
  return {
    acquire: async ({ name, holder, ttlMs, nowMs }) => {
      const taken = `INSERT INTO leases (taken_at, name, holder, expires_at) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (name) DO UPDATE
        SET taken_at = excluded.taken_at, holder = excluded.holder, expires_at = excluded.expires_at
        WHERE holder = excluded.holder OR ${IS_FREE}`;
      return db.write((sql) => sql.run(taken, nowMs, name, holder, nowMs + ttlMs)) === 1;
    },
    holders: async (names, nowMs) =>
      db.read((sql) => {
        const held = `SELECT holder FROM leases WHERE name = ?2 AND NOT ${IS_FREE}`;
        return new Map(
          names.flatMap((name): [string, string][] => {
            const row = sql.get<{ holder: string }>(held, nowMs, name);
            return row ? [[name, row.holder]] : [];
          }),
        );
      }),
    release: async (name, holder) => {
      db.write((sql) => sql.run('DELETE FROM leases WHERE name = ? AND holder = ?', name, holder));
    },
  };
}

/** Removes at most `limit` expired leases; true when there may be more. */
export function deleteExpiredLeases(sql: Sql, nowMs: number, limit: number): boolean {
  const expired = 'DELETE FROM leases WHERE name IN (SELECT name FROM leases WHERE expires_at <= ? LIMIT ?)';
  return sql.run(expired, nowMs, limit) === limit;
}
