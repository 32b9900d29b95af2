import type { FeedStore } from './feed-store.ts';
import type { GeneratorStore } from './generator-store.ts';
import type { NoteStore } from './note-store.ts';
import type { PostStore } from './post-store.ts';
import type { QuotaStore } from './quota-store.ts';
import type { TimelineStore } from './timeline-store.ts';

/**
 * What Sluice keeps, in nine small ports. Every operation is one atomic step, and every one throws
 * StoreUnavailableError when the store does not answer: an outage is never a miss.
 * All times are handed in (`nowMs`, Unix ms) and tell alone what has expired, which is so from its very end on; a server's own
 * clock may end it, too, and alone ends leases, about which gateways with clocks of their own must agree.
 * Text compares byte by byte. Lists of ids may be of any length.
 */
export interface Store {
  readonly feeds: FeedStore;
  readonly timelines: TimelineStore;
  readonly posts: PostStore;
  readonly leases: LeaseStore;
  readonly notes: NoteStore;
  readonly quotas: QuotaStore;
  readonly secrets: SecretStore;
  readonly signals: Signals;
  readonly generators: GeneratorStore;
  /** Resolves when the store answers; for `/ready`. */
  ping(): Promise<void>;
  /** Removes what has expired, a bounded amount a call, and lets others have their turn; true when there was more. */
  deleteExpired(nowMs: number): Promise<boolean>;
  /** Waits for writes under way, then lets go of the files and connections. */
  close(): Promise<void>;
}

/** Who does a piece of work now. A lease only saves work: correctness comes from compare-and-set. */
export interface LeaseStore {
  /** Takes a free or expired lease, or renews one's own; false while another holds it. */
  acquire(lease: { name: string; holder: string; ttlMs: number; nowMs: number }): Promise<boolean>;
  /** Who holds each of these leases now, by name; absent: nobody. Any number of names. */
  holders(names: readonly string[], nowMs: number): Promise<ReadonlyMap<string, string>>;
  /** Lets go, if the holder still holds it. */
  release(name: string, holder: string): Promise<void>;
}

/** What one gateway calls out to all others. A signal may be lost, or come late: it saves waiting, and nothing relies on it. */
export interface Signals {
  /** Resolves when it was sent, whoever hears it. */
  send(name: string): Promise<void>;
  /** Hears what others send, and this gateway itself, until the function that it gives is called. */
  listen(listener: (name: string) => void): () => void;
}

export interface SecretStore {
  /** The secret of this name; made from `candidate` when there is none, one winner for all gateways. */
  getOrCreate(name: string, candidate: Buffer): Promise<Buffer>;
}
