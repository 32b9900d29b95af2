import { GENERATORS, type GeneratorStore } from './generator-store.ts';
import type { Sql, SqliteDatabase } from './sqlite-database.ts';

interface GeneratorRow {
  readonly number: number;
  readonly holder: string;
  readonly expires_at: number;
  readonly mark: number;
}

type Query = Parameters<GeneratorStore['lease']>[0];

/** Generators as rows, one each that was ever leased. A file loses no writes that were acknowledged: there is no pause. */
export function sqliteGenerators(db: SqliteDatabase): GeneratorStore {
  return {
    lease: async (query) => db.writeDurably((sql) => leaseGenerator(sql, query)),
    release: async (holder, generator) => {
      db.write((sql) =>
        sql.run('UPDATE generators SET expires_at = 0 WHERE number = ? AND holder = ?', generator, holder),
      );
    },
  };
}

function leaseGenerator(sql: Sql, { holder, generator, ttlMs, markMs, nowMs }: Query) {
  const rows = new Map(sql.all<GeneratorRow>('SELECT * FROM generators').map((row) => [row.number, row]));
  // A lease that ends later than any could: the clock was set back.
  const isFree = (row: GeneratorRow | undefined) =>
    row === undefined || row.expires_at <= nowMs || row.expires_at > nowMs + 2 * ttlMs;
  const mark = (number: number) => rows.get(number)?.mark ?? 0;
  const own = generator === undefined ? undefined : rows.get(generator);
  const isOwn = generator !== undefined && (isFree(own) || own?.holder === holder);
  const free = Array.from({ length: GENERATORS }, (_, number) => number).filter((number) => isFree(rows.get(number)));
  const number = isOwn ? generator : free.toSorted((a, b) => mark(a) - mark(b))[0];
  if (number === undefined) return 'none free';
  const afterMs = mark(number);
  sql.run(
    `INSERT INTO generators (number, holder, expires_at, mark) VALUES (?, ?, ?, ?)
       ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at, mark = excluded.mark`,
    number,
    holder,
    nowMs + ttlMs,
    Math.max(afterMs, markMs),
  );
  return { generator: number, afterMs };
}
