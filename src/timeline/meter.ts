import { createLine, type Line } from './line.ts';
import { createWindows, LONGEST_MS, type ToldLimit, type Windows } from './windows.ts';

/** What an upstream allows on one endpoint, or with one token as a whole, and who is next there. */
export interface Meter {
  readonly windows: Windows;
  readonly lines: Readonly<Record<'poll' | 'upkeep', Line<LineGuest>>>;
  /** The sources that share it. */
  readonly members: Set<object>;
  /** ms until one more request is allowed; 0: now. */
  waitMs(): number;
  /** So many requests are sent; each must be followed by `answered`. The mark says what else may be on its way to the server. */
  sent(requests: number): Mark;
  /** So many that were sent are under way no more, however they ended. */
  answered(requests: number): void;
  /** The upstream took a request: a limit that was hit is over, and these hold. */
  allowed(limits: readonly ToldLimit[], mark: Mark): void;
  /** A request that was sent at `sentAtMs` (monotonic) was answered with 429. */
  refused(refusal: Refusal): void;
}

export interface Refusal {
  /** From now on, ms. */
  readonly retryInMs: number;
  /** The upstream told no time: each one in a row makes the wait longer. */
  readonly guessed: boolean;
  readonly sentAtMs: number;
}

/** One kind of one source's work. */
export interface LineGuest {
  /** Its turn may have come. */
  changed(): void;
}

const wake = (guest: LineGuest) => guest.changed();

export interface Mark {
  /** Requests sent so far, and of those not answered before it. */
  readonly sent: number;
  readonly unanswered: number;
}

/** Twice as long after each 429 in a row that tells no time: Twitter's hidden limits leave requests to spare. */
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 900_000;

/** `now` is monotonic, ms. */
export function createMeter(now: () => number): Meter {
  let sent = 0;
  let answered = 0;
  let refusals = 0;
  let refusedAtMs = Number.NEGATIVE_INFINITY;
  let blockedUntilMs = Number.NEGATIVE_INFINITY;
  const windows = createWindows({ now, underWay: () => sent - answered });
  return {
    windows,
    lines: { poll: createLine(wake), upkeep: createLine(wake) },
    members: new Set(),
    waitMs: () => Math.max(0, Math.ceil(blockedUntilMs - now()), windows.waitMs()),
    sent(requests) {
      const unanswered = sent - answered;
      sent += requests;
      windows.sent(requests);
      return { sent, unanswered };
    },
    answered(requests) {
      answered += requests;
    },
    allowed(limits, mark) {
      refusals = 0;
      windows.note(limits, mark.unanswered + sent - mark.sent);
    },
    refused({ retryInMs, guessed, sentAtMs }) {
      // What was under way together is one refusal.
      if (sentAtMs > refusedAtMs) refusals += 1;
      refusedAtMs = now();
      const ownMs = !guessed ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (refusals - 1));
      blockedUntilMs = Math.max(blockedUntilMs, now() + Math.min(LONGEST_MS, Math.max(ownMs, retryInMs)));
    },
  };
}
