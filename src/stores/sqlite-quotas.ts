import type { QuotaStore } from './quota-store.ts';
import type { Sql, SqliteDatabase } from './sqlite-database.ts';

/** Quotas as rows: a name, and when all of its turns are there again, in µs, so that all is whole numbers. */
export function sqliteQuotas(db: SqliteDatabase): QuotaStore {
  return { take: async (quota) => db.write((sql) => takeTurns(sql, quota)) };
}

function takeTurns(sql: Sql, { name, count, everyMs, burst, nowMs }: Parameters<QuotaStore['take']>[0]): number {
  const now = Math.floor(nowMs * 1000);
  const every = Math.max(1, Math.round(everyMs * 1000));
  const kept = sql.get<{ full_at: number }>('SELECT full_at FROM quotas WHERE name = ?', name)?.full_at ?? now;
  // Later than it could be: the clock was set back.
  const fullAt = Math.min(Math.max(kept, now), now + burst * every);
  const granted = Math.max(0, Math.min(count, burst - Math.ceil((fullAt - now) / every)));
  const write = 'INSERT INTO quotas (name, full_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET full_at = excluded.full_at';
  if (granted > 0 || fullAt < kept) sql.run(write, name, fullAt + granted * every);
  return granted;
}

/** Removes at most `limit` quotas that are full; true when there may be more. */
export function deleteFullQuotas(sql: Sql, nowMs: number, limit: number): boolean {
  const full = 'DELETE FROM quotas WHERE name IN (SELECT name FROM quotas WHERE full_at <= ? LIMIT ?)';
  return sql.run(full, Math.floor(nowMs * 1000), limit) === limit;
}
