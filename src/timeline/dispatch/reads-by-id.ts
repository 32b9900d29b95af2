import { UpstreamError } from '../../errors.ts';
import { answered, learn, sent } from '../limits/sent.ts';
import type { ByIdQuota, Told } from '../limits/source-limits.ts';
import { countOthers, failed, heldMs, type Sender } from './sender.ts';
import { isOwner, makeRoom, type Token, type TokenState, tightestById } from './token.ts';

export interface FetchedById {
  /** As many as `takeById` allowed, sent or not. */
  readonly requests: number;
  readonly told?: Told | undefined;
  readonly error?: unknown;
  readonly posts?: number | undefined;
}

/** At once: whoever takes over counts them as sent. */
const MOST_TURNS = 8;
/** Until a gateway dispatches the token. */
const UNTOLD: ByIdQuota = { everyMs: 1000, burst: 10, isShared: true };

/** As `Requests.takeById`. */
export async function takeById(sender: Sender, count: number): Promise<number> {
  const { token } = sender;
  if (!mayRead(sender)) return 0;
  try {
    const turns = await takeTurns(token, Math.min(count, MOST_TURNS));
    await makeRoom(token, turns);
    let taken = 0;
    for (; taken < turns && mayRead(sender); taken += 1) spend(sender);
    return taken;
  } catch {
    // Pages are served from the record while the store does not tell.
    return 0;
  }
}

/** As `Requests.fetchedById`. */
export function fetchedById(sender: Sender, { requests, told, error, posts = 0 }: FetchedById): void {
  const { limits, byId, day, token } = sender;
  answered(limits, 'byId', requests);
  byId.underWay -= requests;
  day?.read(posts);
  if (told) learn(limits, 'byId', told, byId.known);
  // A page that a viewer waits for is given up early: that says nothing about the host.
  if (error instanceof UpstreamError && error.code !== 'UNAVAILABLE')
    failed(sender, 'byId', error, token.clock.monotonic());
  countOthers(sender);
}

function mayRead(sender: Sender): boolean {
  const job = { kind: 'poll', pool: 'byId', request: 'byId' } as const;
  return sender.token.breaker.outage() === undefined && heldMs(sender, job) === 0;
}

function spend({ limits, byId, token }: Sender): void {
  const known = sent(limits, 'byId', 'byId', 1);
  // Of several under way, the first one's: what it cannot know of may be missing in all of their replies.
  if (byId.underWay === 0) byId.known = known;
  byId.underWay += 1;
  token.unsaved += 1;
}

/** Takes turns of those that all gateways have; returns how many. Throws StoreUnavailableError. */
async function takeTurns(token: Token, count: number): Promise<number> {
  const quota = await quotaOf(token);
  if (quota === undefined) return 0;
  const { everyMs, burst } = quota;
  const nowMs = token.clock.now();
  return token.quotas.take({ name: `by-id:${token.name}`, count, everyMs, burst, nowMs });
}

/** What the owner lets all gateways have; undefined: nothing. */
async function quotaOf(token: Token): Promise<ByIdQuota | undefined> {
  if (isOwner(token)) return tightestById(token);
  const kept = await token.ownership.read(token.name);
  const published = (kept?.state as TokenState | undefined)?.byId;
  if (kept === undefined || published === undefined) return UNTOLD;
  return published.isShared && published.heldMs <= kept.agoMs ? published : undefined;
}
