/** So many at once, so that a slow host does not take all sockets. */
export interface Crowd<Guest> {
  /** True when one more may come in. Otherwise `waits` has it told when one left. */
  hasRoom(guest: Guest, most: number, waits: boolean): boolean;
  enter(guest: Guest): void;
  leave(guest: Guest, most: number): void;
}

/** `tell` is called for a guest who waits, first come first, when there is room again. */
export function createCrowd<Guest>(tell: (guest: Guest) => void): Crowd<Guest> {
  const inside = new Set<Guest>();
  const waiting = new Set<Guest>();
  return {
    hasRoom(guest, most, waits) {
      const hasRoom = inside.has(guest) || inside.size < most;
      if (hasRoom) waiting.delete(guest);
      else if (waits) waiting.add(guest);
      return hasRoom;
    },
    enter(guest) {
      inside.add(guest);
    },
    leave(guest, most) {
      inside.delete(guest);
      for (const each of [...waiting.values().take(Math.max(0, most - inside.size))]) {
        waiting.delete(each);
        tell(each);
      }
    },
  };
}
