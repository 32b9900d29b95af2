import type { Clock } from '../../../src/clock.ts';
import { StoreUnavailableError } from '../../../src/errors.ts';
import type { Note, NoteStore } from '../../../src/stores/note-store.ts';
import type { QuotaStore } from '../../../src/stores/quota-store.ts';

/** What gateways share, in memory, by the clock of nobody but the store. */
export interface MemoryStores {
  readonly leases: {
    acquire(lease: { name: string; holder: string; ttlMs: number; nowMs: number }): Promise<boolean>;
    holders(names: readonly string[], nowMs: number): Promise<ReadonlyMap<string, string>>;
    release(name: string, holder: string): Promise<void>;
  };
  readonly notes: NoteStore;
  readonly quotas: QuotaStore;
  /** Throws at each call while it is out. */
  isOut: boolean;
  /** What a note holds. */
  body(name: string): string | undefined;
  /** The same for writes of notes, after they were made. */
  losesAnswers: boolean;
  readonly calls: { leases: number; holders: number; notesRead: number; notesWritten: number };
}

export function createMemoryStores(clock: Clock): MemoryStores {
  const leases = new Map<string, { holder: string; untilMs: number }>();
  const notes = new Map<string, Note>();
  const grantedUntilMs = new Map<string, number>();
  const calls = { leases: 0, holders: 0, notesRead: 0, notesWritten: 0 };

  async function answer(): Promise<void> {
    if (stores.isOut) throw new StoreUnavailableError('the store is out');
  }

  const holderOf = (name: string) => {
    const lease = leases.get(name);
    return lease !== undefined && lease.untilMs > clock.monotonic() ? lease.holder : undefined;
  };

  const stores: MemoryStores = {
    isOut: false,
    body: (name) => notes.get(name)?.body,
    losesAnswers: false,
    calls,
    leases: {
      async acquire({ name, holder, ttlMs }) {
        await answer();
        calls.leases += 1;
        if ((holderOf(name) ?? holder) !== holder) return false;
        leases.set(name, { holder, untilMs: clock.monotonic() + ttlMs });
        return true;
      },
      async holders(names) {
        await answer();
        calls.holders += names.length;
        return new Map(names.flatMap((name) => (holderOf(name) === undefined ? [] : [[name, holderOf(name) ?? '']])));
      },
      async release(name, holder) {
        await answer();
        if (holderOf(name) === holder) leases.delete(name);
      },
    },
    notes: {
      async read(names) {
        await answer();
        calls.notesRead += names.length;
        return new Map(names.flatMap((name) => (notes.has(name) ? [[name, notes.get(name) as Note]] : [])));
      },
      async write({ name, body, expectedVersion }) {
        await answer();
        calls.notesWritten += 1;
        const version = notes.get(name)?.version ?? 0;
        if (expectedVersion !== undefined && expectedVersion !== version) return undefined;
        notes.set(name, { version: version + 1, body });
        if (stores.losesAnswers) throw new StoreUnavailableError('no answer');
        return version + 1;
      },
      async remove(names) {
        await answer();
        for (const name of names) notes.delete(name);
      },
    },
    quotas: {
      async take({ name, count, everyMs, burst, nowMs }) {
        await answer();
        let granted = 0;
        let untilMs = Math.max(nowMs, Math.min(grantedUntilMs.get(name) ?? nowMs, nowMs + burst * everyMs));
        for (; granted < count && untilMs + everyMs <= nowMs + burst * everyMs; granted += 1) untilMs += everyMs;
        grantedUntilMs.set(name, untilMs);
        return granted;
      },
    },
  };
  return stores;
}
