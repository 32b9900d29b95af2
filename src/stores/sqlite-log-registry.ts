import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogRegistry } from './log-registry.ts';
import type { Sql, SqliteDatabase } from './sqlite-database.ts';
import { findLog } from './sqlite-log-rows.ts';
import { startTrim, trimLog } from './sqlite-log-trim.ts';

const NOTHING_KEPT = { beforeMs: Number.POSITIVE_INFINITY, keepEntries: 0, keepKnown: 0 };

/** The rows of `logs`: those of dropped logs are not listed, and tell their versions and positions alone. */
export function sqliteLogRegistry(db: SqliteDatabase): LogRegistry {
  return {
    nameLogs: async (logIds, nowMs) =>
      db.write((sql) => {
        const name = `INSERT INTO logs (log_id, named_at) VALUES (?, ?)
          ON CONFLICT DO UPDATE SET named_at = excluded.named_at, dropped = 0`;
        for (const logId of logIds) sql.run(name, logId, nowMs);
      }),
    listLogs: async () => {
      const list = 'SELECT log_id, named_at FROM logs WHERE dropped = 0 ORDER BY log_id';
      const rows = db.read((sql) => sql.all<{ log_id: string; named_at: number | null }>(list));
      return rows.map(({ log_id: logId, named_at }) =>
        named_at === null ? { logId } : { logId, namedAtMs: named_at },
      );
    },
    dropLog: async (logId) => {
      const progress = startTrim();
      for (;;) {
        const step = db.write((sql) => dropStep(sql, logId, progress));
        if (step !== 'more') return step === 'dropped';
        await nextTurn();
      }
    },
  };
}

function dropStep(sql: Sql, logId: string, progress: ReturnType<typeof startTrim>): 'more' | 'dropped' | 'none' {
  const row = findLog(sql, logId);
  if (!row || row.dropped === 1) return 'none';
  if (trimLog(sql, { ...NOTHING_KEPT, logId, losesBodies: true }, progress)) return 'more';
  sql.run('DELETE FROM statuses WHERE log_id = ?', logId);
  sql.run('DELETE FROM sweeps WHERE log = ?', row.log);
  sql.run(
    `UPDATE logs SET dropped = 1, version = version + 1, named_at = NULL, watermark_id = NULL, watermark_key = NULL,
       floor_key = NULL, state = '{}' WHERE log = ?`,
    row.log,
  );
  return 'dropped';
}
