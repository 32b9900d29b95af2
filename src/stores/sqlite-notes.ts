import type { Note, NoteStore } from './note-store.ts';
import type { Sql, SqliteDatabase } from './sqlite-database.ts';

/** Notes as rows, found by their name. */
export function sqliteNotes(db: SqliteDatabase): NoteStore {
  return {
    read: async (names) =>
      db.read((sql) => {
        const notes = new Map<string, Note>();
        for (const name of names) {
          const note = sql.get<Note>('SELECT version, body FROM notes WHERE name = ?', name);
          if (note) notes.set(name, { ...note });
        }
        return notes;
      }),
    write: async (note) => db.write((sql) => writeNote(sql, note)),
    remove: async (names) =>
      db.write((sql) => {
        for (const name of names) sql.run('DELETE FROM notes WHERE name = ?', name);
      }),
  };
}

function writeNote(sql: Sql, { name, body, expectedVersion }: Parameters<NoteStore['write']>[0]): number | undefined {
  const version = sql.get<Note>('SELECT version, body FROM notes WHERE name = ?', name)?.version ?? 0;
  if (expectedVersion !== undefined && expectedVersion !== version) return undefined;
  const write = `INSERT INTO notes (name, version, body) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET version = excluded.version, body = excluded.body`;
  sql.run(write, name, version + 1, body);
  return version + 1;
}
