import { StoreUnavailableError } from '../errors.ts';
import type { Signals } from './store.ts';

/** Signals inside one process, for a store that has no way to call other processes: those look for themselves. */
export function localSignals(isClosed: () => boolean): Signals {
  const listeners = new Set<(name: string) => void>();
  return {
    async send(name) {
      if (isClosed()) throw new StoreUnavailableError('the store is closed');
      for (const listener of listeners) listener(name);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
