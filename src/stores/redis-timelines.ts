import { comparePositions } from '../ids/position.ts';
import type { PostId } from '../post.ts';
import { list, type RedisConnection, text } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { redisLogRegistry } from './redis-log-registry.ts';
import { COUNTS, fieldsOf, readKnown, readRecord, readState } from './redis-log-rows.ts';
import { CHANGES_AT_ONCE, KEPT_MS, redisOutbox } from './redis-outbox.ts';
import { postValues } from './redis-posts.ts';
import { redisScript } from './redis-script.ts';
import { readRepairState } from './repair-state.ts';
import type {
  KnownEntry,
  KnownPost,
  LogCommit,
  LogRecord,
  NewRecord,
  SourceStatus,
  TimelineStore,
} from './timeline-store.ts';

const COMMIT = redisScript('commit', 'history', 'bytes', 'log');
const RECORDS_AFTER = redisScript('records-after', 'log', 'records');
const ENTRIES_BEFORE = redisScript('entries-before', 'bytes', 'log', 'records');
const ENTRIES_BY_URI = redisScript('entries-by-uri', 'log', 'records');
const KNOWN_BETWEEN = redisScript('known-between', 'log');
const DROP_LOG = redisScript('drop-log', 'bytes', 'log', 'trimming');
const LIFT_HEAD = redisScript('lift-head', 'bytes');
const TRIM = redisScript('trim', 'bytes', 'log', 'trimming');

/** How many rows of a kind one step drops: some milliseconds of the server's. */
const STEP_ROWS = 250;
/** So many ids in one command. */
const IDS_AT_ONCE = 1000;

/** Logs, each in a slot of its own: everything of one changes in one step. Post bodies lie elsewhere. @see redis-outbox.ts */
export function redisTimelines(connection: RedisConnection, keys: RedisKeys, now: () => number): TimelineStore {
  const outbox = redisOutbox(connection, keys);
  const registry = redisLogRegistry(connection, keys);
  const stateKey = (logId: string) => `${keys.log(logId)}state`;

  /** What a reader is told of is there for it to read. */
  async function records(logId: string, reply: unknown): Promise<readonly LogRecord[]> {
    const [rows, removed, pending, kept] = list(reply);
    if (Number(pending) > 0) await outbox.make(logId);
    const removals = list(removed);
    const found = list(rows).map((row, n) => readRecord(logId, row, removals[n]));
    if (connection.isCluster && Number(kept) > 0) {
      const young = found.filter(
        (one) => one.kind !== 'remove' && one.removedAt === undefined && now() - one.arrivedAtMs < 2 * KEPT_MS,
      );
      await outbox.mend(logId, [...new Set(young.map(({ postId }) => postId))]);
    }
    return found;
  }

  async function between(logId: string, highest: string, lowest: string, limit: number): Promise<readonly KnownPost[]> {
    const reply = list(await connection.run(KNOWN_BETWEEN, [stateKey(logId)], [highest, lowest, Math.max(0, limit)]));
    return Array.from({ length: reply.length / 3 }, (_, n) => {
      const [postId, orderKey, upstreamId] = reply.slice(3 * n, 3 * n + 3).map(text);
      return { postId: postId ?? '', upstreamId: upstreamId ?? '', orderKey: orderKey ?? '' };
    });
  }

  return {
    nameLogs: registry.name,
    listLogs: registry.list,
    async dropLog(logId) {
      for (;;) {
        const reply = list(await connection.run(DROP_LOG, [stateKey(logId)], [STEP_ROWS]));
        const [isMore, pending, wasThere] = reply.map(Number);
        if (pending) await outbox.make(logId);
        if (!isMore) return (await registry.remove(logId)) || wasThere === 1;
      }
    },
    async readLog(logId) {
      const { dropped, ...fields } = fieldsOf(await connection.call('hgetall', stateKey(logId)));
      const state = readState(fields);
      // Of an earlier release. A full Redis takes no entry, and is read all the same.
      if (state.version > 0 && dropped === undefined) await registry.enter(logId).catch(() => {});
      return state;
    },
    async commit(commit) {
      const { logId } = commit;
      const reply = await connection.run(COMMIT, [stateKey(logId)], commitValues(commit));
      if (reply === 0) return { committed: false };
      const [state, changes, wasDropped] = list(reply);
      if (wasDropped === 1) registry.forget(logId);
      await registry.enter(logId);
      await outbox.make(logId, list(changes));
      return { committed: true, state: readState(fieldsOf(state)) };
    },
    async known(logId, postIds) {
      const known = new Map<PostId, KnownEntry>();
      const ids = [...new Set(postIds)];
      for (let at = 0; at === 0 || at < ids.length; at += IDS_AT_ONCE) {
        const some = ids.slice(at, at + IDS_AT_ONCE);
        const values = list(
          await connection.call('hmget', `${keys.log(logId)}known`, ...(some.length > 0 ? some : [''])),
        );
        for (const [n, id] of some.entries()) {
          const entry = readKnown(values[n]);
          if (entry) known.set(id, entry);
        }
      }
      // Whoever compares what is known with its bodies finds them all.
      if (known.size > 0) await outbox.make(logId);
      return known;
    },
    async anchor(logId, orderKey) {
      const [anchor] = await between(logId, upTo(orderKey), '-', 1);
      return anchor;
    },
    knownBetween: ({ logId, above, upTo: highest, limit }) =>
      between(logId, highest === undefined ? '+' : upTo(highest), above === undefined ? '-' : upTo(above), limit),
    async readRepair(logId) {
      const reply = await connection.call('get', `${keys.log(logId)}sweep`);
      return Buffer.isBuffer(reply) ? readRepairState(JSON.parse(text(reply))) : undefined;
    },
    async recordsAfter({ logId, after, limit }) {
      const from = after === undefined ? '-' : `(${after}`;
      return records(logId, await connection.run(RECORDS_AFTER, [stateKey(logId)], [from, Math.max(0, limit)]));
    },
    async entriesBefore({ logId, upTo: last, before, limit }) {
      const from = before ? [before.sortAtMs, before.postId] : ['+inf'];
      const values = [last, Math.max(0, limit), ...from];
      return records(logId, await connection.run(ENTRIES_BEFORE, [stateKey(logId)], values));
    },
    async entriesByUri(logId, uris) {
      const all: LogRecord[] = [];
      const distinct = [...new Set(uris)];
      for (let at = 0; at === 0 || at < distinct.length; at += IDS_AT_ONCE) {
        const some = distinct.slice(at, at + IDS_AT_ONCE);
        all.push(...(await records(logId, await connection.run(ENTRIES_BY_URI, [stateKey(logId)], some))));
      }
      return all.sort((a, b) => comparePositions(a.position, b.position));
    },
    async liftHead(logId, position) {
      await connection.run(LIFT_HEAD, [stateKey(logId)], [position]);
      await registry.enter(logId);
    },
    async trim({ logId, beforeMs, keepEntries, keepBytes = Number.MAX_SAFE_INTEGER, keepKnown }) {
      const values = [beforeMs, keepEntries, keepKnown, STEP_ROWS, keepBytes];
      for (let isMore = true; isMore; ) {
        const reply = await connection.run(TRIM, [stateKey(logId)], values);
        const [more, pending] = list(reply);
        if (Number(pending) > 0) await outbox.make(logId);
        isMore = more === 1;
      }
    },
    async writeStatus(logId, status) {
      await connection.call('set', `${keys.log(logId)}status`, JSON.stringify(status));
      await registry.enter(logId);
    },
    async readStatus(logId) {
      const reply = await connection.call('get', `${keys.log(logId)}status`);
      return Buffer.isBuffer(reply) ? (JSON.parse(text(reply)) as SourceStatus) : undefined;
    },
  };
}

/** As a bound of ZREVRANGEBYLEX: everything with this order key, and nothing with a higher one. */
function upTo(orderKey: string): string {
  return `(${orderKey}\u0001`;
}

/** @see lua/commit.lua */
function commitValues(commit: LogCommit): readonly (string | number)[] {
  const { expectedVersion, nowMs, append, places = [], posts, watermark, floorKey = '', counts } = commit;
  const asJson = (value: unknown) => (value === undefined ? '' : JSON.stringify(value));
  const bodies = posts.flatMap((write) =>
    postValues(write).flatMap(({ part, values }) => [write.post.id, part, ...values]),
  );
  return [
    ...[expectedVersion, nowMs, watermark?.upstreamId ?? '', watermark?.orderKey ?? '', floorKey],
    ...[commit.gaps, commit.lateness, commit.memory, commit.repair].map(asJson),
    ...COUNTS.map((name) => counts?.[name] ?? 0),
    append.length,
    CHANGES_AT_ONCE,
    places.length,
    ...append.flatMap(recordValues),
    ...places.flatMap(({ postId, orderKey }) => [postId, orderKey]),
    ...bodies,
  ];
}

function recordValues(record: NewRecord): readonly (string | number)[] {
  const { kind, postId, uri, upstreamId, orderKey, revision, sortAtMs, arrivedAtMs, late } = record;
  return [kind, postId, uri, upstreamId, orderKey, revision, sortAtMs, arrivedAtMs, late ? 1 : 0];
}
