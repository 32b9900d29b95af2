import type { Clock } from '../../clock.ts';
import type { QuotaStore } from '../../stores/quota-store.ts';
import { type Breaker, createBreaker } from '../limits/breaker.ts';
import type { DayCount, ReadToday } from '../limits/day-count.ts';
import { type ByIdQuota, byIdQuota, type SourceLimits, toldMs } from '../limits/source-limits.ts';
import { countUnsaved, restoreLimits, type SavedLimits, saveLimits, type TokenLimits } from '../limits/token-limits.ts';
import type { Ownership } from './ownership.ts';
import type { Kept } from './token-note.ts';

/** What the sources of one token have in common, and how it outlives this gateway. Times are monotonic, ms. */
export interface Token {
  /** Its credentialId. */
  readonly name: string;
  readonly ownership: Pick<Ownership, 'owns' | 'save' | 'read'>;
  readonly quotas: QuotaStore;
  readonly clock: Clock;
  readonly limits: TokenLimits;
  readonly breaker: Breaker;
  /** Of all that share it. */
  readonly sources: SourceLimits[];
  /** By log, of those that have a most a day. */
  readonly days: Map<string, DayCount>;
  /** Reads by id are off up to then. */
  byIdRefusedUntilMs: number;
  /** Requests that are in no note, and how many there may be. */
  unsaved: number;
  mostUnsaved: number;
  /** Of those that there may be, for requests that are counted only when they are answered. */
  reserved: number;
  savedAtMs: number;
  saving: Promise<void> | undefined;
}

/** What is kept of it in its note. */
export interface TokenState {
  readonly limits: SavedLimits;
  readonly days: Readonly<Record<string, ReadToday>>;
  readonly byIdRefusedMs: number;
  readonly byId: ByIdQuota & { readonly heldMs: number };
}

const SAVE_EVERY_MS = 1000;
/** Whoever takes over from a gateway that was killed counts so many as sent: a small part of what is allowed. */
const MOST_UNSAVED = 8;
const UNSAVED_PART = 60;

export function createToken(
  deps: Pick<Token, 'name' | 'ownership' | 'quotas' | 'clock'> & { random: () => number },
): Token {
  const { name, ownership, quotas, clock, random } = deps;
  const never = Number.NEGATIVE_INFINITY;
  return {
    ...{ name, ownership, quotas, clock, sources: [], days: new Map() },
    limits: { clock, limiters: new Map(), throttles: new Map(), unsaved: 0 },
    breaker: createBreaker(clock.monotonic, random),
    ...{ byIdRefusedUntilMs: never, unsaved: 0, mostUnsaved: 0, reserved: 0, savedAtMs: never, saving: undefined },
  };
}

/** True while this gateway alone may send with it. */
export function isOwner({ ownership, name }: Token): boolean {
  return ownership.owns(name);
}

/** True while so many requests more may be sent before what is known is saved. */
export function hasRoom({ unsaved, reserved, mostUnsaved }: Token, requests: number): boolean {
  return unsaved + reserved + requests <= mostUnsaved;
}

/** Saves until there is room, or the token is another gateway's. Throws StoreUnavailableError. */
export async function makeRoom(token: Token, requests: number): Promise<void> {
  while (isOwner(token) && !hasRoom(token, requests)) await save(token, requests);
}

/** Saves what is known. Throws StoreUnavailableError; resolves also where the token is another gateway's. */
function save(token: Token, requests: number): Promise<void> {
  token.saving ??= write(token, Math.max(requests, fewUnsaved(token)) + token.reserved).finally(() => {
    token.saving = undefined;
  });
  return token.saving;
}

/** A job ended: saves now and then. */
export function saveAfterJob(token: Token): void {
  if (token.unsaved === 0 || !isOwner(token)) return;
  // What the upstream bills is kept each time.
  if (token.days.size === 0 && token.clock.monotonic() - token.savedAtMs < SAVE_EVERY_MS) return;
  save(token, 0).catch(() => {});
}

/** Saves for good. Never throws. */
export async function leave(token: Token): Promise<void> {
  await token.saving?.catch(() => {});
  await token.ownership.save(token.name, { state: stateOf(token), mostUnsaved: 0 }).catch(() => {});
}

/** Goes on with what the gateway before kept. */
export function restore(token: Token, before: Kept | undefined): void {
  Object.assign(token, { unsaved: 0, mostUnsaved: 0 });
  const saved = before?.state as TokenState | undefined;
  if (before === undefined) return;
  if (saved) restoreLimits(token.limits, saved.limits, before);
  countUnsaved(token.limits, before.unsaved);
  if (saved === undefined) return;
  for (const [logId, day] of token.days) day.restore(saved.days[logId]);
  const byIdRefusedUntilMs = token.clock.monotonic() + saved.byIdRefusedMs - before.agoMs;
  token.byIdRefusedUntilMs = Math.max(token.byIdRefusedUntilMs, byIdRefusedUntilMs);
}

/** For how long reads by id are off, ms. */
export function byIdRefusedMs({ byIdRefusedUntilMs, clock }: Token): number {
  return Math.max(0, byIdRefusedUntilMs - clock.monotonic());
}

/** The tightest of what its sources may read by id. */
export function tightestById({ sources }: Token): ByIdQuota {
  const all = sources.map(byIdQuota);
  return {
    everyMs: Math.max(...all.map(({ everyMs }) => everyMs)),
    burst: Math.min(...all.map(({ burst }) => burst)),
    isShared: all.every(({ isShared }) => isShared),
  };
}

function stateOf(token: Token): TokenState {
  const { limits, days, sources, breaker } = token;
  const refusedMs = byIdRefusedMs(token);
  const heldMs = Math.max(refusedMs, breaker.waitMs(), ...sources.map((each) => toldMs(each, 'byId')));
  return {
    limits: saveLimits(limits),
    days: Object.fromEntries([...days].map(([logId, day]) => [logId, day.state()])),
    byIdRefusedMs: refusedMs,
    byId: { ...tightestById(token), heldMs },
  };
}

function fewUnsaved({ limits }: Token): number {
  const parts = [...limits.throttles.values()].map(({ known }) => Math.floor(known.requests / UNSAVED_PART));
  return Math.max(1, Math.min(MOST_UNSAVED, ...parts));
}

async function write(token: Token, mostUnsaved: number): Promise<void> {
  const counted = token.unsaved;
  if (counted > 0) token.savedAtMs = token.clock.monotonic();
  // Either note may be what the next owner finds.
  token.mostUnsaved = Math.min(token.mostUnsaved, mostUnsaved);
  if (!(await token.ownership.save(token.name, { state: stateOf(token), mostUnsaved }))) return;
  token.unsaved -= counted;
  token.mostUnsaved = mostUnsaved;
}
