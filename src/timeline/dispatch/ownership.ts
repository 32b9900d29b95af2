import type { Clock } from '../../clock.ts';
import type { Note, NoteStore } from '../../stores/note-store.ts';
import { createHeartbeat, type Heartbeat, type HeartbeatLeases, RENEW_MS } from './heartbeat.ts';
import { type Kept, keptOf, noteName, parseNote, type TokenNote, unsavedAfter } from './token-note.ts';

/** Which tokens this gateway dispatches. One a gateway. */
export interface Ownership {
  /** Shows that this gateway lives, and takes tokens that no living one dispatches, until `stop`. */
  run(): Promise<void>;
  /** Lets go of all, so that others take over at once. To be called when the dispatchers have ended. */
  stop(): Promise<void>;
  /** True while no other gateway may dispatch it, as far as the local clock tells. */
  owns(token: string): boolean;
  claim(claim: Claim): void;
  /**
   * Keeps what is known, for whoever takes over, and that so many requests more may be sent. False: another gateway took the
   * token. Throws StoreUnavailableError.
   */
  save(token: string, kept: Pick<TokenNote, 'state' | 'mostUnsaved'>): Promise<boolean>;
  /** What the gateway that dispatches it kept, at most some seconds ago. Throws StoreUnavailableError. */
  read(token: string): Promise<Kept | undefined>;
}

/** A token that this gateway would dispatch. */
export interface Claim {
  /** Its credentialId. */
  readonly token: string;
  /** The logs that it is read for. */
  readonly logs: readonly string[];
  /** It is this gateway's from now on; what the one before kept, if there was one. */
  taken(before: Kept | undefined): void;
  /** It is another one's. */
  lost(): void;
  /** It was doubtful, while the store did not answer, and is still this gateway's. */
  resumed(): void;
}

interface State {
  readonly notes: NoteStore;
  readonly clock: Clock;
  readonly holder: string;
  readonly heartbeat: Heartbeat;
  readonly entries: Map<string, Entry>;
  /** Those that are not known to be ours. */
  readonly open: Set<Entry>;
  isStopped: boolean;
}

interface Entry extends Claim {
  isOurs: boolean;
  version: number;
  note: TokenNote | undefined;
  /** Monotonic. */
  readAtMs: number;
  /** For `read`. */
  fresh: { readonly atMs: number; readonly note: TokenNote | undefined };
}

const LOOK_MS = 800;
/** Another gateway may have taken it from the one that had it. */
const STALE_MS = 30_000;
/** What is kept is read by others for so long. */
const FRESH_MS = 5000;
/** Gateways whose settings name other logs of a token take turns. */
const TURN_MS = 60_000;
/** Notes that are read at once. */
const BATCH = 500;

/** `holder` names this gateway and no other. One lease a gateway, however many tokens. */
export function createOwnership(deps: {
  leases: HeartbeatLeases;
  notes: NoteStore;
  clock: Clock;
  holder: string;
  /** Is told each time the store does not answer. */
  onFailure?: ((error: unknown) => void) | undefined;
}): Ownership {
  const { notes, clock, holder, onFailure = () => {} } = deps;
  const heartbeat = createHeartbeat(deps);
  const entries = new Map<string, Entry>();
  const open = new Set<Entry>();
  const state: State = { notes, clock, holder, heartbeat, entries, open, isStopped: false };
  let waker = new AbortController();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!state.isStopped) {
      waker = new AbortController();
      // The store is out: the next look comes back to it.
      await look(state).catch(onFailure);
      const waitMs = heartbeat.isHeld() && open.size === 0 ? RENEW_MS : LOOK_MS;
      if (!state.isStopped) await clock.sleep(waitMs, waker.signal);
    }
  }

  return {
    run() {
      running ??= run();
      return running;
    },
    async stop() {
      state.isStopped = true;
      waker.abort();
      await running;
      await heartbeat.stop();
    },
    owns(token) {
      const entry = entries.get(token);
      return entry?.isOurs === true && !open.has(entry) && heartbeat.isHeld() && !state.isStopped;
    },
    claim(claim) {
      const never = Number.NEGATIVE_INFINITY;
      const fresh = { atMs: never, note: undefined };
      const entry: Entry = { ...claim, isOurs: false, version: 0, note: undefined, readAtMs: never, fresh };
      entries.set(claim.token, entry);
      open.add(entry);
      waker.abort();
    },
    async save(token, kept) {
      const entry = entries.get(token);
      return entry?.isOurs === true && save(state, entry, kept);
    },
    async read(token) {
      const entry = entries.get(token);
      if (entry === undefined) return undefined;
      if (clock.monotonic() - entry.fresh.atMs >= FRESH_MS) {
        const note = await readNote(state, token);
        entry.fresh = { atMs: clock.monotonic(), note: note && parseNote(note.body) };
      }
      return entry.fresh.note && keptOf(entry.fresh.note, clock);
    },
  };
}

/** Renews the heartbeat, and takes what no living gateway dispatches. */
async function look(state: State): Promise<void> {
  const { heartbeat, open, notes } = state;
  await renew(state);
  if (open.size === 0) return;
  const living = new Set([state.holder]);
  await heartbeat.addLiving(ownersOf(open), living);
  const due = [...open].filter((entry) => isDue(state, entry, living));
  for (let from = 0; from < due.length && heartbeat.isHeld() && !state.isStopped; from += BATCH) {
    const batch = due.slice(from, from + BATCH);
    const found = await notes.read(batch.map(({ token }) => noteName(token)));
    for (const entry of batch) see(state, entry, found.get(noteName(entry.token)));
    await heartbeat.addLiving(ownersOf(batch), living);
    await Promise.all(batch.map((entry) => settle(state, entry, living)));
    await renew(state);
  }
}

async function renew({ heartbeat, entries, open }: State): Promise<void> {
  if (await heartbeat.renew()) for (const entry of entries.values()) open.add(entry);
}

/** True where its note is to be read. */
function isDue(state: State, entry: Entry, living: ReadonlySet<string>): boolean {
  const { isOurs, note, readAtMs } = entry;
  if (isOurs || note === undefined || !living.has(note.owner)) return true;
  return state.clock.monotonic() - readAtMs >= STALE_MS || isOurTurn(state, entry, note);
}

/** A gateway with other settings leaves logs of ours unread. */
function isOurTurn({ clock }: State, { logs }: Entry, { logs: theirs, takenAtMs }: TokenNote): boolean {
  if (Math.abs(clock.now() - takenAtMs) < TURN_MS) return false;
  const read = new Set(theirs);
  return logs.some((log) => !read.has(log));
}

/** Takes in what the store holds: it may be another gateway's by now. */
function see({ clock, holder, open }: State, entry: Entry, note: Note | undefined): void {
  entry.readAtMs = clock.monotonic();
  entry.version = note?.version ?? 0;
  entry.note = note && parseNote(note.body);
  if (!entry.isOurs || entry.note?.owner === holder) return;
  entry.isOurs = false;
  open.add(entry);
  entry.lost();
}

async function settle(state: State, entry: Entry, living: ReadonlySet<string>): Promise<void> {
  const { note } = entry;
  // It was doubtful, or was taken by a write of which no answer came.
  if (note?.owner === state.holder) return own(state, entry, note);
  const isFree = note === undefined || (!living.has(note.owner) && !state.heartbeat.isPatient());
  if (!isFree && !isOurTurn(state, entry, note)) return;
  const nowMs = state.clock.now();
  const kept = { savedAtMs: note?.savedAtMs ?? nowMs, state: note?.state, unsaved: note ? unsavedAfter(note) : 0 };
  const taken = await write(state, entry, { ...kept, takenAtMs: nowMs, mostUnsaved: 0 });
  if (taken) own(state, entry, taken);
  // Another one was faster.
  else entry.note = undefined;
}

function own({ open, clock }: State, entry: Entry, note: TokenNote): void {
  const wasOurs = entry.isOurs;
  open.delete(entry);
  entry.isOurs = true;
  if (wasOurs) entry.resumed();
  else entry.taken(keptOf(note, clock));
}

async function save(state: State, entry: Entry, kept: Pick<TokenNote, 'state' | 'mostUnsaved'>): Promise<boolean> {
  const nowMs = state.clock.now();
  const takenAtMs = entry.note?.takenAtMs ?? nowMs;
  const saved = { ...kept, takenAtMs, savedAtMs: nowMs, unsaved: 0 };
  if (await write(state, entry, saved)) return true;
  // It may be ours all the same, by a write of which no answer came; or again, and then what was to be saved is of before.
  see(state, entry, await readNote(state, entry.token));
  const isSame = entry.note?.owner === state.holder && entry.note.takenAtMs === takenAtMs;
  return isSame && (await write(state, entry, saved)) !== undefined;
}

/** Undefined where another gateway wrote meanwhile. */
async function write(
  { notes, holder }: State,
  entry: Entry,
  changes: Omit<TokenNote, 'format' | 'owner' | 'logs'>,
): Promise<TokenNote | undefined> {
  const note: TokenNote = { format: 1, owner: holder, logs: entry.logs, ...changes };
  const body = JSON.stringify(note);
  const version = await notes.write({ name: noteName(entry.token), body, expectedVersion: entry.version });
  if (version === undefined) return undefined;
  Object.assign(entry, { version, note });
  return note;
}

async function readNote({ notes }: State, token: string): Promise<Note | undefined> {
  return (await notes.read([noteName(token)])).get(noteName(token));
}

function ownersOf(entries: Iterable<Entry>): readonly string[] {
  return [...entries].flatMap(({ note }) => note?.owner ?? []);
}
