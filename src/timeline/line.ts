/** Those who want a turn where there is one for each stretch of time: whoever had least goes first. */
export interface Line<Guest> {
  /**
   * ms until that guest's turn, as things stand; 0: now. With `joins` it takes a place, which holds until it should have
   * asked again after that wait: not for one whom something else keeps, as it would keep the others, too. Who `isUrgent`
   * need not wait while there are turns that nobody used.
   */
  waitMs(guest: Guest, turn: Turn & { isPreferred: boolean; joins: boolean; isUrgent: boolean }): number;
  /** It went: takes the turn or, where none was free, one that nobody used before, or owes one, which is paid before its next. */
  went(guest: Guest, turn: Turn): void;
}

export interface Turn {
  readonly nowMs: number;
  /** From one turn to the next; 0: as many as want. */
  readonly intervalMs: number;
}

/** Of four turns that many at most go to preferred guests while others wait: nobody starves. */
const MOST_PREFERRED_IN_A_ROW = 3;
/** So many turns that nobody used are kept: about what is to be read after some minutes without an answer. */
const MOST_SPARE = 40;
/** Who does not ask in time holds up the others for so long. */
const GRACE_MS = 1000;

interface Place {
  /** The turns that it had, or what its class had come to when it came: the lowest goes first. A whole number. */
  tag: number;
  owed: number;
  isPreferred: boolean;
  /** When it will ask again, at the latest; its place holds a little longer. */
  asksAtMs: number;
  /** Of two at one tag, whoever joined first. */
  joined: number;
}

const NOBODY: Place = {
  tag: Number.NEGATIVE_INFINITY,
  owed: 0,
  isPreferred: false,
  asksAtMs: Number.NEGATIVE_INFINITY,
  joined: Number.POSITIVE_INFINITY,
};

const isWaiting = (place: Place, nowMs: number) => place.asksAtMs + GRACE_MS > nowMs;

/**
 * Start-time fair queueing: a newcomer begins where the others are, each turn brings its guest one on. Who owes turns pays
 * them with those that come up for it, so that one that takes many at once delays itself alone. `wake` is called for a guest
 * whose turn has come sooner than it was told, as another one finds out.
 * @see Goyal, Vin, Cheng: Start-time Fair Queueing (SIGCOMM 1996)
 */
export function createLine<Guest>(wake: (guest: Guest) => void): Line<Guest> {
  const places = new Map<Guest, Place>();
  /** How far the preferred and the others have come. */
  const reached = { preferred: 0, others: 0 };
  let lastTurnMs = Number.NEGATIVE_INFINITY;
  let spare = 0;
  let preferredInARow = 0;
  let joins = 0;

  const classOf = ({ isPreferred }: Place) => (isPreferred ? 'preferred' : 'others');

  /** How many turns go to others before that guest has its own. */
  function turnsAhead(guest: Guest, place: Place, nowMs: number): number {
    const ownTag = place.tag + place.owed;
    let ahead = place.owed;
    let ofOtherClass = 0;
    for (const [key, other] of places) {
      if (key === guest) continue;
      const asks = isWaiting(other, nowMs);
      const turns = other.owed + (asks ? 1 : 0);
      if (other.isPreferred !== place.isPreferred) {
        if (asks) ofOtherClass += turns;
        continue;
      }
      const isFirst = asks && other.tag + other.owed === ownTag && other.joined < place.joined;
      ahead += Math.min(turns, Math.max(0, ownTag - other.tag) + (isFirst ? 1 : 0));
    }
    const most = place.isPreferred
      ? Math.floor((preferredInARow + ahead) / MOST_PREFERRED_IN_A_ROW)
      : Math.max(0, MOST_PREFERRED_IN_A_ROW - preferredInARow) + MOST_PREFERRED_IN_A_ROW * ahead;
    return ahead + Math.min(ofOtherClass, most);
  }

  /** Who has the next turn: of the class whose turn it is, whoever had least; one that owes for itself, before it asks. */
  function first(nowMs: number): readonly [Guest, Place] | undefined {
    const waiting = [...places.values()].filter((place) => isWaiting(place, nowMs));
    const [preferredWait, othersWait] = [true, false].map((is) =>
      waiting.some(({ isPreferred }) => isPreferred === is),
    );
    const isPreferredTurn = preferredWait && !(othersWait && preferredInARow >= MOST_PREFERRED_IN_A_ROW);
    let best: readonly [Guest, Place] | undefined;
    for (const each of places) {
      const place = each[1];
      if (place.owed === 0 && !isWaiting(place, nowMs)) continue;
      if (waiting.length > 0 && place.isPreferred !== isPreferredTurn) continue;
      if (best === undefined || isBefore(place, best[1])) best = each;
    }
    return best;
  }

  function advance(place: Place, nowMs: number): void {
    reached[classOf(place)] = Math.max(reached[classOf(place)], place.tag);
    place.tag += 1;
    const othersWait = [...places.values()].some((each) => !each.isPreferred && isWaiting(each, nowMs));
    preferredInARow = place.isPreferred && othersWait ? preferredInARow + 1 : 0;
  }

  /** Turns that came up for those who owe some are paid with them. */
  function settle({ nowMs, intervalMs }: Turn): void {
    if (lastTurnMs === Number.NEGATIVE_INFINITY) lastTurnMs = nowMs - intervalMs;
    while (lastTurnMs + intervalMs <= nowMs) {
      const place = first(nowMs)?.[1];
      if (place === undefined || place.owed === 0) break;
      place.owed -= 1;
      advance(place, nowMs);
      lastTurnMs += intervalMs;
    }
    for (const [guest, place] of places) {
      const isSpent = place.owed === 0 && place.tag <= reached[classOf(place)];
      if (isSpent && !isWaiting(place, nowMs)) places.delete(guest);
    }
  }

  /** There is a turn, and whoever asked must leave it to another one. */
  function wakeFirst(asker: Guest, nowMs: number): void {
    const [guest, place] = first(nowMs) ?? [];
    if (guest === undefined || place === undefined || guest === asker || place.asksAtMs <= nowMs) return;
    place.asksAtMs = nowMs;
    wake(guest);
  }

  /** Its place as it would be in that class: who comes back takes along what it had more than the others. */
  function placeOf(guest: Guest, isPreferred: boolean, nowMs: number): Place {
    const before = places.get(guest) ?? NOBODY;
    const holds = isWaiting(before, nowMs) && before.isPreferred === isPreferred;
    if (holds || (before.owed > 0 && before.isPreferred === isPreferred)) return before;
    const more = Math.max(0, before.tag - reached[classOf(before)]);
    const place = { ...before, isPreferred };
    return { ...place, tag: reached[classOf(place)] + more, joined: joins };
  }

  return {
    waitMs(guest, turn) {
      const { nowMs, intervalMs, isPreferred } = turn;
      if (intervalMs <= 0) {
        places.clear();
        lastTurnMs = Number.NEGATIVE_INFINITY;
        spare = 0;
        return 0;
      }
      settle(turn);
      const place = { ...placeOf(guest, isPreferred, nowMs), asksAtMs: nowMs };
      if (turn.joins) {
        places.set(guest, place);
        joins += 1;
        settle(turn);
      }
      const freeInMs = Math.max(0, lastTurnMs + intervalMs - nowMs);
      const ownInMs = turn.isUrgent && spare >= 1 ? 0 : freeInMs;
      const waitMs = Math.ceil(ownInMs + turnsAhead(guest, place, nowMs) * intervalMs);
      if (!turn.joins) return waitMs;
      place.asksAtMs = nowMs + waitMs;
      if (freeInMs === 0 && waitMs > 0) wakeFirst(guest, nowMs);
      return waitMs;
    },
    went(guest, turn) {
      const { nowMs, intervalMs } = turn;
      if (intervalMs <= 0) return;
      settle(turn);
      const place = { ...placeOf(guest, places.get(guest)?.isPreferred ?? false, nowMs), asksAtMs: NOBODY.asksAtMs };
      places.set(guest, place);
      if (lastTurnMs + intervalMs > nowMs) {
        if (spare >= 1) spare -= 1;
        else place.owed += 1;
        return;
      }
      spare = Math.min(MOST_SPARE, spare + (nowMs - lastTurnMs) / intervalMs - 1);
      advance(place, nowMs);
      lastTurnMs = nowMs;
    },
  };
}

function isBefore(a: Place, b: Place): boolean {
  if (a.tag !== b.tag) return a.tag < b.tag;
  const [isReal, isOther] = [a.owed === 0, b.owed === 0];
  return isReal === isOther ? a.joined < b.joined : isReal;
}
