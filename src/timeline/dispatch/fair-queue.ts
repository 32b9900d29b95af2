/** Whose turn it is where there is one for each stretch of time: whoever had least goes first. */
export interface FairQueue<Guest> {
  /**
   * Of all who wait now, whose turn it is; undefined: there is no turn yet. Who `isUrgent` may take one that nobody used before.
   * Whoever did not wait at the last call begins where the others are.
   */
  next<Waiting extends Waits<Guest>>(waiting: readonly Waiting[], turn: Turn): Waiting | undefined;
  /** It goes: takes the turn or, where none is free, one that nobody used before, or owes one, which is paid before its next. */
  went(guest: Guest, turn: Turn): void;
  /** ms until the next turn comes up; 0: there is one. */
  freeInMs(turn: Turn): number;
  /** About how many ms that guest would have to wait. */
  waitMs(waiting: Waits<Guest>, turn: Turn): number;
}

export interface Waits<Guest> {
  readonly guest: Guest;
  readonly isPreferred: boolean;
  readonly isUrgent: boolean;
}

export interface Turn {
  readonly nowMs: number;
  /** From one turn to the next; 0: as many as want. */
  readonly intervalMs: number;
}

/** After so many turns of preferred guests another one goes first, if it asks: nobody starves. */
const MOST_PREFERRED_IN_A_ROW = 3;
/** So many turns that nobody used are kept: about what is to be read after some minutes without an answer. */
const MOST_SPARE = 40;

interface Place {
  /** The turns that it had, or what its class had come to when it came: the lowest goes first. A whole number. */
  tag: number;
  owed: number;
  isPreferred: boolean;
}

interface State<Guest> {
  readonly places: Map<Guest, Place>;
  asking: Set<Guest>;
  /** How far the preferred and the others have come. */
  readonly reached: { preferred: number; others: number };
  readonly startMs: number;
  lastTurnMs: number | undefined;
  spare: number;
  preferredInARow: number;
}

/**
 * Start-time fair queueing: a newcomer begins where the others are, each turn brings its guest one on. Who owes turns pays
 * them with those that come up for it, so that one that takes many at once delays itself alone. Turns come up from `startMs` on.
 * @see Goyal, Vin, Cheng: Start-time Fair Queueing (SIGCOMM 1996)
 */
export function createFairQueue<Guest>(startMs: number): FairQueue<Guest> {
  const state: State<Guest> = {
    ...{ places: new Map(), asking: new Set(), reached: { preferred: 0, others: 0 } },
    ...{ startMs, lastTurnMs: undefined, spare: 0, preferredInARow: 0 },
  };
  const { places } = state;
  return {
    freeInMs: (turn) => freeInMs(state, turn),
    next(waiting, turn) {
      for (const each of waiting) arrive(state, each);
      state.asking = new Set(waiting.map(({ guest }) => guest));
      settle(state, turn);
      if (freeInMs(state, turn) > 0) return state.spare >= 1 ? waiting.find(({ isUrgent }) => isUrgent) : undefined;
      const guest = first(state)?.[0];
      return waiting.find((each) => each.guest === guest);
    },
    went(guest, turn) {
      settle(state, turn);
      state.asking.delete(guest);
      const place = placeOf(state, guest);
      if (freeInMs(state, turn) > 0) {
        if (state.spare >= 1) state.spare -= 1;
        else place.owed += 1;
        return;
      }
      const unused = turn.intervalMs > 0 ? (turn.nowMs - lastTurnMs(state, turn)) / turn.intervalMs - 1 : 0;
      state.spare = Math.min(MOST_SPARE, state.spare + unused);
      advance(state, place);
      state.lastTurnMs = turn.nowMs;
    },
    waitMs({ guest, isPreferred, isUrgent }, turn) {
      settle(state, turn);
      const owed = places.get(guest)?.owed ?? 0;
      const ownInMs = isUrgent && state.spare >= 1 ? 0 : freeInMs(state, turn);
      const isAhead = (other: Guest) => other !== guest && (!isPreferred || places.get(other)?.isPreferred === true);
      const ahead = state.asking.values().filter(isAhead).toArray().length;
      return Math.ceil(ownInMs + (owed + ahead) * turn.intervalMs);
    },
  };
}

function lastTurnMs<Guest>({ lastTurnMs, startMs }: State<Guest>, { intervalMs }: Turn): number {
  return lastTurnMs ?? startMs - intervalMs;
}

function freeInMs<Guest>(state: State<Guest>, turn: Turn): number {
  return Math.max(0, Math.ceil(lastTurnMs(state, turn) + turn.intervalMs - turn.nowMs));
}

function placeOf<Guest>({ places }: State<Guest>, guest: Guest): Place {
  const place = places.get(guest) ?? { tag: 0, owed: 0, isPreferred: false };
  places.set(guest, place);
  return place;
}

/** Who comes back, or into another class, takes along what it had more than the others. */
function arrive<Guest>(state: State<Guest>, { guest, isPreferred }: Waits<Guest>): void {
  const { asking, reached } = state;
  const place = placeOf(state, guest);
  if ((asking.has(guest) || place.owed > 0) && place.isPreferred === isPreferred) return;
  const more = Math.max(0, place.tag - reached[classOf(place)]);
  place.isPreferred = isPreferred;
  place.tag = reached[classOf(place)] + more;
}

/** Turns that came up for those who owe some are paid with them. */
function settle<Guest>(state: State<Guest>, turn: Turn): void {
  const { nowMs, intervalMs } = turn;
  if (intervalMs <= 0) {
    for (const place of state.places.values()) place.owed = 0;
    state.lastTurnMs = nowMs;
    return;
  }
  state.lastTurnMs = lastTurnMs(state, turn);
  while (state.lastTurnMs + intervalMs <= nowMs) {
    const place = first(state)?.[1];
    if (place === undefined || place.owed === 0) break;
    place.owed -= 1;
    advance(state, place);
    state.lastTurnMs += intervalMs;
  }
}

/**
 * Who has the next turn: of the class whose turn it is, whoever had least, of several the first that waits; one that owes, before
 * it asks.
 */
function first<Guest>(state: State<Guest>): readonly [Guest, Place] | undefined {
  const { places, asking, preferredInARow } = state;
  const isTurnOfOthers = someAsk(state, false) && preferredInARow >= MOST_PREFERRED_IN_A_ROW;
  const isPreferredTurn = someAsk(state, true) && !isTurnOfOthers;
  let best: readonly [Guest, Place] | undefined;
  for (const guest of new Set([...asking, ...places.keys()])) {
    const place = placeOf(state, guest);
    if (place.owed === 0 && !asking.has(guest)) continue;
    if (asking.size > 0 && place.isPreferred !== isPreferredTurn) continue;
    if (best === undefined || isBefore(place, best[1])) best = [guest, place];
  }
  return best;
}

function advance<Guest>(state: State<Guest>, place: Place): void {
  const { reached } = state;
  reached[classOf(place)] = Math.max(reached[classOf(place)], place.tag);
  place.tag += 1;
  // Also while no other asks: one that is busy at those moments each time has its turn when it comes.
  state.preferredInARow = place.isPreferred ? state.preferredInARow + 1 : 0;
}

function someAsk<Guest>({ places, asking }: State<Guest>, isPreferred: boolean): boolean {
  return asking.values().some((guest) => places.get(guest)?.isPreferred === isPreferred);
}

function classOf({ isPreferred }: Place): 'preferred' | 'others' {
  return isPreferred ? 'preferred' : 'others';
}

function isBefore(a: Place, b: Place): boolean {
  return a.tag === b.tag ? a.owed === 0 && b.owed > 0 : a.tag < b.tag;
}
