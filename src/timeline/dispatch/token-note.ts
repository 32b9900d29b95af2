import type { Clock } from '../../clock.ts';

/** The note `token:<credentialId>`: who dispatches the token, and what is known about it. */
export interface TokenNote {
  readonly format: 1;
  readonly owner: string;
  readonly logs: readonly string[];
  /** Unix ms. */
  readonly takenAtMs: number;
  readonly savedAtMs: number;
  /** How many requests may have been sent before this owner took it, and are not in `state`. */
  readonly unsaved: number;
  /** How many this owner may send that are not in `state` either: none before it has saved, none once it stopped. */
  readonly mostUnsaved: number;
  readonly state?: unknown;
}

/** What a gateway kept, for whoever goes on. */
export interface Kept {
  readonly state: unknown;
  /** How long ago it was kept, ms; never negative, although clocks differ. */
  readonly agoMs: number;
  /** How many requests may have been sent since. */
  readonly unsaved: number;
}

export const noteName = (token: string) => `token:${token}`;

/** Undefined for what another release wrote. */
export function parseNote(body: string): TokenNote | undefined {
  const note: TokenNote = JSON.parse(body);
  return note.format === 1 ? note : undefined;
}

/** As its next owner has it. */
export function keptOf({ state, savedAtMs, unsaved }: TokenNote, clock: Clock): Kept {
  return { state, unsaved, agoMs: Math.max(0, clock.now() - savedAtMs) };
}

/** What it may hold too little once its owner is gone. */
export function unsavedAfter({ unsaved, mostUnsaved }: TokenNote): number {
  return unsaved + mostUnsaved;
}
