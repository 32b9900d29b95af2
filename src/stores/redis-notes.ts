import type { Note, NoteStore } from './note-store.ts';
import { getAll, type RedisConnection, sendAll } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const WRITE_NOTE = redisScript('write-note', 'history');

/** Notes, a key each. */
export function redisNotes(connection: RedisConnection, keys: RedisKeys): NoteStore {
  return {
    async read(names) {
      const values = await getAll(connection, names.map(keys.note));
      return new Map(names.flatMap((name, n) => entryOf(name, values[n])));
    },
    async write({ name, body, expectedVersion }) {
      const version = await connection.run(WRITE_NOTE, [keys.note(name)], [body, expectedVersion ?? '']);
      return Number(version) || undefined;
    },
    async remove(names) {
      await sendAll(names, (name) => connection.call('del', keys.note(name)));
    },
  };
}

/** @see lua/write-note.lua */
function entryOf(name: string, value: Buffer | undefined): [string, Note][] {
  if (!value) return [];
  const space = value.indexOf(' ');
  const body = value.toString('utf8', value.indexOf(' ', space + 1) + 1);
  return [[name, { version: Number(value.toString('latin1', 0, space)), body }]];
}
