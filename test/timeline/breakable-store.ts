import { StoreUnavailableError } from '../../src/errors.ts';
import type { Store } from '../../src/stores/store.ts';

export interface BreakableStore {
  readonly store: Store;
  /** While it is, nothing that timelines need is answered. */
  isOut: boolean;
}

/** The same store, which can be taken away. */
export function createBreakableStore(store: Store): BreakableStore {
  const failing = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          if (breakable.isOut) throw new StoreUnavailableError('the store is out');
          return method.apply(target, args);
        };
      },
    });
  const { timelines, posts, leases, notes, quotas } = store;
  const ports = { timelines, posts, leases, notes, quotas };
  const broken = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, failing(port)]));
  const breakable = { store: { ...store, ...broken }, isOut: false };
  return breakable;
}
