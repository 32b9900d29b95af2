import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { StoreUnavailableError } from '../errors.ts';

/** What a value that SQLite keeps may be; `undefined` is kept as NULL. */
export type SqlValue = string | number | Uint8Array | undefined;

/** SQL inside one transaction; every text is prepared once a connection. Rows come as the schema has them. */
export interface Sql {
  get<Row>(text: string, ...values: SqlValue[]): Row | undefined;
  all<Row>(text: string, ...values: SqlValue[]): Row[];
  /** Gives how many rows changed. */
  run(text: string, ...values: SqlValue[]): number;
  /** Another number whenever anybody, this process too, may have written since: while it is the same, so is all that was read. */
  epoch(): number;
}

/**
 * One connection. Each piece of work is one transaction: on an error nothing of it stays.
 * Every failure of SQLite is thrown as StoreUnavailableError with its cause.
 */
export interface SqliteDatabase {
  /** One snapshot. */
  read<T>(work: (sql: Sql) => T): T;
  /** Survives kill -9 once it returns; a power cut may take it back. For what may be lost or made again. */
  write<T>(work: (sql: Sql) => T): T;
  /** As `write`, but where another process is writing nothing is done: for what can be done later. */
  writeIfFree(work: (sql: Sql) => void): void;
  /** Survives a power cut too, as far as the disk keeps its word. */
  writeDurably<T>(work: (sql: Sql) => T): T;
  /** May be called twice. */
  close(): void;
}

/** Wraps an open connection whose schema is current. `busyTimeoutMs`: how long it waits for another process that is writing. */
export function sqliteDatabase(connection: DatabaseSync, busyTimeoutMs: number): SqliteDatabase {
  const sql = preparedSql(connection);
  let synchronous = '';

  function transaction<T>(begin: string, work: (sql: Sql) => T): T {
    connection.exec(begin);
    try {
      const result = work(sql);
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      // A full disk or an I/O error may have rolled back already.
      if (connection.isOpen && connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }

  function write<T>(level: string, work: (sql: Sql) => T): T {
    return told(() => {
      if (synchronous !== level) connection.exec(`PRAGMA synchronous = ${level}`);
      synchronous = level;
      return transaction('BEGIN IMMEDIATE', work);
    });
  }

  function writeIfFree(work: (sql: Sql) => void): void {
    connection.exec('PRAGMA busy_timeout = 0');
    try {
      write('NORMAL', work);
    } catch (error) {
      if (!isBusy(error)) throw error;
    } finally {
      connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  return {
    read: (work) => told(() => transaction('BEGIN', work)),
    write: (work) => write('NORMAL', work),
    writeIfFree: (work) => told(() => writeIfFree(work)),
    writeDurably: (work) => write('FULL', work),
    close: () => {
      if (connection.isOpen) told(() => connection.close());
    },
  };
}

/** Parses JSON that this store wrote. */
export function storedJson<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new StoreUnavailableError('the store holds a value that is not JSON', { cause });
  }
}

function preparedSql(connection: DatabaseSync): Sql {
  let epoch = 0;
  let seen = '';
  const statements = new Map<string, StatementSync>();
  const prepared = (text: string): StatementSync => {
    const known = statements.get(text);
    if (known) return known;
    const statement = connection.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  return {
    epoch() {
      // What other connections have committed, and how many rows this one has changed.
      const others = prepared('PRAGMA data_version').get()?.data_version;
      const state = `${others} ${prepared('SELECT total_changes() AS rows').get()?.rows}`;
      if (state !== seen) epoch += 1;
      seen = state;
      return epoch;
    },
    get: <Row>(text: string, ...values: SqlValue[]) => prepared(text).get(...values.map(bound)) as Row | undefined,
    all: <Row>(text: string, ...values: SqlValue[]) => prepared(text).all(...values.map(bound)) as Row[],
    run: (text, ...values) => Number(prepared(text).run(...values.map(bound)).changes),
  };
}

function bound(value: SqlValue): SQLInputValue {
  return value ?? null;
}

const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;

function isBusy(error: unknown): boolean {
  return (Number((error as { cause?: { errcode?: unknown } }).cause?.errcode) & 0xff) === SQLITE_BUSY;
}

/** Runs `work` and says what SQLite's errors mean to us. A broken constraint is a caller's mistake, not an outage. */
function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, errcode } = error as { code?: unknown; errcode?: unknown };
    if (code === 'ERR_INVALID_STATE') throw new StoreUnavailableError('the store is closed', { cause: error });
    if (code !== 'ERR_SQLITE_ERROR') throw error;
    const primary = Number(errcode) & 0xff;
    if (primary === SQLITE_CONSTRAINT || primary === SQLITE_MISMATCH) throw error;
    throw new StoreUnavailableError(`the store did not answer: ${(error as Error).message}`, { cause: error });
  }
}
