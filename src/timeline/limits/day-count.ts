import type { JobKind } from './pools.ts';

/** How many posts a source has read today, where the settings say how many it may. Days are those of UTC. */
export interface DayCount {
  /** How many more may be read for that now, at least 0. Rescans and confirmations stop at half of it. */
  left(kind: JobKind): number;
  /** ms until the next day. */
  nextDayMs(): number;
  read(posts: number): void;
  /** To be kept over restarts. */
  state(): ReadToday;
  /** Another gateway counts from now on: what is read here is added to what that one knew. */
  forget(): void;
  /** Adds what another gateway counted: posts of another day do not count. */
  restore(state: ReadToday | undefined): void;
}

export interface ReadToday {
  /** `2026-11-21`, UTC. */
  readonly day: string;
  readonly posts: number;
}

const DAY_MS = 86_400_000;

/** `now` gives Unix ms: days are the wall clock's. */
export function createDayCount(mostPosts: number, now: () => number): DayCount {
  let today: ReadToday = { day: dayOf(now()), posts: 0 };

  function present(): ReadToday {
    const day = dayOf(now());
    // A clock that is set back does not give the day before once more.
    if (day !== today.day) today = { day, posts: day > today.day ? 0 : today.posts };
    return today;
  }

  return {
    left(kind) {
      const isRepeat = kind === 'rescan' || kind === 'confirm';
      return Math.max(0, (isRepeat ? Math.floor(mostPosts / 2) : mostPosts) - present().posts);
    },
    nextDayMs: () => Date.parse(present().day) + DAY_MS - now(),
    read(posts) {
      today = { ...present(), posts: present().posts + posts };
    },
    state: present,
    forget() {
      today = { ...present(), posts: 0 };
    },
    restore(state) {
      const { day, posts } = present();
      if (state !== undefined && state.day >= day) today = { day, posts: posts + state.posts };
    },
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
