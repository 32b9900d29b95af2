import type { Source } from '../src/source.ts';
import type { Store } from '../src/stores/store.ts';
import { createPollers } from '../src/timeline/pollers.ts';
import type { Upstream } from '../src/upstreams/upstream.ts';
import { HOST } from '../test/simulated-server.ts';
import type { VirtualClock } from '../test/virtual-clock.ts';

/** Our gateway in the lab: the real loops on the real embedded store. */
export interface LabGateway {
  start(): void;
  /** Ends it as `kill -9` does: whatever is under way never comes back, nothing is let go. */
  kill(): void;
  stop(): Promise<void>;
}

/** `upstream` is asked in this process's life alone; `holder` names it and no other. */
export function createLabGateway(deps: {
  clock: VirtualClock;
  store: Store;
  upstream: (isDead: () => boolean) => Upstream;
  holder: string;
  random: () => number;
  keepEntries: number;
  /** After each commit. */
  onCommit: () => void;
}): LabGateway {
  const { clock, store, holder, random, keepEntries, onCommit } = deps;
  let isDead = false;
  const source = labSource(deps.upstream(() => isDead));
  const mortal = mortalStore(store, () => isDead, onCommit);
  const pollers = createPollers({
    sources: [source],
    store: mortal,
    clock,
    holder,
    random,
    keep: { keepHours: 168, keepEntries },
  });
  return {
    start: pollers.start,
    kill() {
      isDead = true;
    },
    stop: pollers.stop,
  };
}

const nothing = async () => {
  throw new Error('clients do not ask upstreams');
};

/** What clients read. */
export const LAB_SOURCE = labSource({ describe: nothing, readPage: nothing, fetchPosts: nothing });

/** As the settings' defaults make it. */
function labSource(upstream: Upstream): Source {
  return {
    key: 'lab',
    logId: 'lab',
    network: 'mastodon',
    host: HOST,
    url: `https://${HOST}`,
    timeline: 'public',
    audience: 'anyone',
    upstream,
    credentialId: HOST,
    polling: {
      minIntervalMs: 5000,
      idleIntervalMs: 60_000,
      sweepIntervalMs: 300_000,
      overlapMs: 60_000,
      overlap: 'latest',
      pollWhen: 'always',
      ownInterval: false,
      ownOverlap: false,
    },
  };
}

/** The store as a process sees it that may die: its calls are then never answered. */
function mortalStore(
  store: Store,
  isDead: () => boolean,
  onCommit: () => void,
): Pick<Store, 'timelines' | 'posts' | 'leases' | 'signals' | 'notes' | 'quotas'> {
  const never = new Promise<never>(() => {});
  function mortal<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get(target, name, receiver) {
        const method = Reflect.get(target, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...parameters: unknown[]) => {
          if (isDead()) return never;
          const result: unknown = await Reflect.apply(method, target, parameters);
          if (name === 'commit') onCommit();
          return isDead() ? never : result;
        };
      },
    });
  }
  const { timelines, posts, leases, signals, notes, quotas } = store;
  return {
    ...{ timelines: mortal(timelines), posts: mortal(posts), leases: mortal(leases), signals },
    ...{ notes: mortal(notes), quotas: mortal(quotas) },
  };
}
