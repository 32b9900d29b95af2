import type { SqliteDatabase } from './sqlite-database.ts';
import type { SecretStore } from './store.ts';

/** Secrets as rows that are written once and never change. */
export function sqliteSecrets(db: SqliteDatabase): SecretStore {
  return {
    getOrCreate: async (name, candidate) =>
      db.writeDurably((sql) => {
        sql.run('INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING', name, candidate);
        const row = sql.get<{ value: Uint8Array }>('SELECT value FROM secrets WHERE name = ?', name);
        return Buffer.from(row?.value ?? candidate);
      }),
  };
}
