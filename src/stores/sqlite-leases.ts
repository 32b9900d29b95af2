import type { Sql, SqliteDatabase } from './sqlite-database.ts';
import type { LeaseStore } from './store.ts';

/** Holders of one machine agree about the time but for as much. */
const LONGEST_STEP_MS = 1000;

/** Leases as rows; an expired one is as good as none, and so is one that ends later than any could: the clock was set back. */
export function sqliteLeases(db: SqliteDatabase): LeaseStore {
  return {
    acquire: async ({ name, holder, ttlMs, nowMs }) => {
      const taken = `INSERT INTO leases (name, holder, expires_at) VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
        WHERE holder = excluded.holder OR expires_at <= ? OR expires_at > excluded.expires_at + ?`;
      return db.write((sql) => sql.run(taken, name, holder, nowMs + ttlMs, nowMs, LONGEST_STEP_MS)) === 1;
    },
    release: async (name, holder) => {
      db.write((sql) => sql.run('DELETE FROM leases WHERE name = ? AND holder = ?', name, holder));
    },
  };
}

/** Removes at most `limit` expired leases; true when there may be more. */
export function sweepLeases(sql: Sql, nowMs: number, limit: number): boolean {
  const expired = 'DELETE FROM leases WHERE name IN (SELECT name FROM leases WHERE expires_at <= ? LIMIT ?)';
  return sql.run(expired, nowMs, limit) === limit;
}
