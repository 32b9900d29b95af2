import { UpstreamError } from '../errors.ts';
import type { Source } from '../source.ts';
import type { UpstreamDescription } from '../upstreams/upstream.ts';
import { createAllowance, type RequestKind, type Told } from './allowance.ts';
import type { Credential } from './credential.ts';
import type { DayCount } from './day-count.ts';
import type { LineGuest, Mark } from './meter.ts';
import type { Share } from './windows.ts';

/** A source's place at its token's budget. Waits are in ms; Infinity: never again. */
export interface Seat {
  /**
   * How long until work of that share may begin; 0: now. `queue`: it takes a place in line, which holds while it asks again
   * after that time. `isPreferred`: somebody waits for it.
   */
  waitMs(share: Share, wish?: { isPreferred?: boolean; queue?: boolean }): number;
  /** Begins work for which `waitMs` is 0. Must be followed by `done`. */
  take(share: Share): void;
  done(): void;
  /** How long nothing may be sent because the upstream or the settings say so; 0: it may. */
  blockedMs(): number;
  /** True while a poll may read one page more without taking what others need. */
  mayGoOn(): boolean;
  /**
   * Sends one request and learns from what comes back. Waits itself where that is a matter of a second or two; throws
   * UpstreamError RATE_LIMITED, with nothing sent, where it takes longer.
   */
  send<Reply extends Told>(request: Sending, work: () => Promise<Reply>): Promise<Reply>;
  /** Learns what the source's upstream is, or why it does not tell. */
  describe(work: () => Promise<UpstreamDescription>): Promise<UpstreamDescription>;
  /** Spends one request of the part for reads by id; false: none is left. `fetchedById` must follow. */
  mayFetchById(): boolean;
  fetchedById(outcome: FetchedById): void;
  /** Nothing is sent for so long: what was told to the loop before this one. */
  hold(ms: number): void;
  /** Why nothing is sent any more: the upstream does not accept the token. */
  stopped(): UpstreamError | undefined;
  /** Why one request at a time tries the host: it answers none of the token's sources. */
  outage(): UpstreamError | undefined;
  /** `listener` is called when `waitMs` or `stopped` may have changed by what happened to others. */
  onChange(listener: () => void): void;
  changed(): void;
}

export interface Sending {
  readonly share: Share;
  readonly kind: RequestKind;
  readonly signal: AbortSignal;
}

export interface FetchedById {
  /** How often `mayFetchById` said yes for it. */
  readonly requests: number;
  readonly told?: Told | undefined;
  /** What broke it off. */
  readonly error?: unknown;
}

/** The most requests of one token under way. */
const MOST_AT_ONCE = 8;
/** A wait that is not worth breaking off a walk of pages. */
const LONGEST_PAUSE_MS = 2000;
/** Who waits for room is told, and looks for itself now and then. */
const LOOK_AGAIN_MS = 10_000;
/** Reads by id come in bursts: one a page that a viewer asks for. */
const BY_ID_BURST = 10;

const poolOf = (share: Share) => (share === 'poll' ? 'poll' : 'upkeep');

/** `day` counts posts where the settings bound them. */
export function createSeat(credential: Credential, source: Source, day: DayCount | undefined): Seat {
  const { clock, breaker, crowd } = credential;
  const allowance = createAllowance(credential, source);
  const newGuest = () => ({ changed: () => listener() });
  const guests: Readonly<Record<Share, LineGuest>> = { poll: newGuest(), fill: newGuest(), sweep: newGuest() };
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let isPaid = false;
  let byIdUnderWay = 0;
  let byIdMarks: readonly Mark[] = [];
  let listener = () => {};

  const mostAtOnce = () => (breaker.outage() === undefined ? MOST_AT_ONCE : 1);

  function settingsMs(share: Share): number {
    const heldMs = Math.max(0, Math.ceil(heldUntilMs - clock.monotonic()));
    const isUsedUp = day !== undefined && day.left(share) === 0;
    return isUsedUp ? Math.max(heldMs, day.nextDayMs()) : heldMs;
  }

  function lineMs(share: Share, wish: { isPreferred: boolean; joins: boolean }): number {
    const pool = poolOf(share);
    for (const meter of allowance.meters('page')) {
      // A gap that has just opened need not wait for turns when there were so many before that nobody used.
      const isUrgent = share === 'fill' && allowance.hasSpareFill();
      const intervalMs = allowance.intervalMs(meter, pool, 'page');
      const turn = { nowMs: clock.monotonic(), intervalMs, isUrgent, ...wish };
      const waitMs = meter.lines[pool].waitMs(guests[share], turn);
      if (waitMs === 0) continue;
      // At a reset everything is shared out anew; what others leave until then makes a long wait shorter.
      const lookMs = wish.joins && waitMs > LOOK_AGAIN_MS ? Math.max(LOOK_AGAIN_MS, waitMs / 2) : waitMs;
      return Math.max(1, Math.ceil(Math.min(lookMs, meter.windows.nextResetMs() ?? lookMs)));
    }
    return 0;
  }

  function went(share: Share): void {
    const pool = poolOf(share);
    for (const meter of allowance.meters('page')) {
      const turn = { nowMs: clock.monotonic(), intervalMs: allowance.intervalMs(meter, pool, 'page') };
      meter.lines[pool].went(guests[share], turn);
    }
  }

  /** How long a request has to wait yet. Throws where it must not be sent at all, or not so soon. */
  function pauseMs({ share, kind, signal }: Sending): number {
    const error = credential.stopped();
    if (error) throw error;
    if (signal.aborted) throw new UpstreamError('UNAVAILABLE', 'the request was broken off');
    const waitMs = Math.max(allowance.toldMs(kind), allowance.countedMs(kind, poolOf(share)));
    if (waitMs <= LONGEST_PAUSE_MS) return waitMs;
    const retryAtMs = clock.now() + waitMs;
    throw new UpstreamError('RATE_LIMITED', `all requests that ${source.host} allows are spent`, { retryAtMs });
  }

  function failed(kind: RequestKind, error: unknown, sentAtMs: number): void {
    if (!(error instanceof UpstreamError)) return;
    if (error.code === 'UNAVAILABLE') breaker.failed(error, sentAtMs);
    else breaker.answered();
    if (error.code === 'UNAUTHORIZED') credential.stop(error);
    if (error.code !== 'RATE_LIMITED') return;
    const { endpoint, guessed, retryAtMs = 0 } = error;
    allowance.refused(kind, { endpoint, guessed, retryInMs: retryAtMs - clock.now(), sentAtMs });
  }

  const seat: Seat = {
    waitMs(share, { isPreferred = false, queue = false } = {}) {
      if (credential.stopped()) return Number.POSITIVE_INFINITY;
      const allowedMs = Math.max(allowance.toldMs('page'), allowance.countedMs('page', poolOf(share)));
      const hardMs = Math.max(allowedMs, settingsMs(share), breaker.waitMs());
      const hasRoom = hardMs > 0 || crowd.hasRoom(seat, mostAtOnce(), queue);
      const leastMs = hasRoom ? hardMs : LOOK_AGAIN_MS;
      const joins = queue && leastMs === 0;
      return Math.max(leastMs, lineMs(share, { isPreferred: isPreferred || share === 'fill', joins }));
    },
    take(share) {
      went(share);
      isPaid = true;
      crowd.enter(seat);
    },
    done() {
      isPaid = false;
      crowd.leave(seat, mostAtOnce());
    },
    blockedMs() {
      const countedMs = allowance.countedMs('page', 'poll');
      const pausedMs = countedMs > LONGEST_PAUSE_MS ? countedMs : 0;
      return Math.max(allowance.toldMs('page'), pausedMs, settingsMs('poll'));
    },
    mayGoOn() {
      if (credential.stopped() || seat.blockedMs() > 0) return false;
      return allowance.hasSparePage();
    },
    async send(request, work) {
      const { share, kind, signal } = request;
      for (let waitMs = pauseMs(request); waitMs > 0; waitMs = pauseMs(request)) await clock.sleep(waitMs, signal);
      const sentAtMs = clock.monotonic();
      if (!isPaid) went(share);
      isPaid = false;
      const marks = allowance.sent(kind, poolOf(share), 1);
      try {
        const reply = await work().finally(() => allowance.answered(kind, 1));
        breaker.answered();
        allowance.note(kind, reply, marks);
        return reply;
      } catch (error) {
        failed(kind, error, sentAtMs);
        throw error;
      } finally {
        allowance.countOthers();
      }
    },
    async describe(work) {
      const sentAtMs = clock.monotonic();
      try {
        const description = await work();
        if (allowance.countOthers()) breaker.answered();
        allowance.describe(description);
        return description;
      } catch (error) {
        allowance.countOthers();
        failed('page', error, sentAtMs);
        throw error;
      }
    },
    mayFetchById() {
      const nowMs = clock.monotonic();
      if (credential.stopped() || breaker.outage() || settingsMs('poll') > 0) return false;
      if (Math.max(allowance.toldMs('byId'), allowance.countedMs('byId', 'byId')) > 0) return false;
      const meters = allowance.meters('byId');
      const everyMs = Math.max(...meters.map((meter) => allowance.intervalMs(meter, 'byId', 'byId')));
      if (credential.byIdPaidUntilMs - BY_ID_BURST * everyMs > nowMs) return false;
      credential.byIdPaidUntilMs = Math.max(nowMs, credential.byIdPaidUntilMs) + everyMs;
      const marks = allowance.sent('byId', 'byId', 1);
      // Of several under way, the first one's: what it cannot know of may be missing in all of their replies.
      if (byIdUnderWay === 0) byIdMarks = marks;
      byIdUnderWay += 1;
      return true;
    },
    fetchedById({ requests, told, error }) {
      if (requests > 0) allowance.answered('byId', requests);
      byIdUnderWay -= requests;
      if (told) allowance.note('byId', told, byIdMarks);
      // A page that a viewer waits for is given up early: that says nothing about the host.
      const isRefusal = error instanceof UpstreamError && error.code !== 'UNAVAILABLE';
      if (isRefusal) failed('byId', error, clock.monotonic());
      allowance.countOthers();
    },
    hold(ms) {
      heldUntilMs = Math.max(heldUntilMs, clock.monotonic() + ms);
    },
    stopped: () => credential.stopped(),
    outage: () => breaker.outage(),
    onChange(told) {
      listener = told;
    },
    changed: () => listener(),
  };
  return seat;
}
