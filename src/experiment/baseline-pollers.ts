import { type IdScheme, idScheme } from '../ids/id-scheme.ts';
import { sinceIdByRetrievedAt } from '../ids/since-id.ts';
import { type ListOrder, listOrder } from './list-order.ts';

/** The usual ways to poll a timeline, to compare with. All page down to where they were and drop what they know. */
export interface BaselinePoller {
  readonly name: string;
  /** One poll; the ids that are new to it. What `read` throws is passed on, and then nothing changes: the poll never was. */
  poll(): Promise<readonly string[]>;
  /** The since_id that the next poll would send; undefined before the first. */
  sinceId(): string | undefined;
  /** Tells at which ids the next poll would end: those at or below its since_id; of opaque ids those that it knows. */
  end(): (id: string) => boolean;
  /** True for an id that it has read; the newest 20,000 are remembered. */
  knows(id: string): boolean;
  readonly counts: BaselineCounts;
}

export interface BaselineCounts {
  readonly requests: number;
  /** Posts in all replies. */
  readonly read: number;
  /** Those of them which were known already. */
  readonly readAgain: number;
}

/** One page of ids as the upstream orders them, newest first. */
export interface BaselinePage {
  readonly ids: readonly string[];
  /** The next page's `next`; absent where the upstream says that there is none. */
  readonly next?: string | undefined;
}

export type BaselineRead = (request: {
  sinceId?: string | undefined;
  next?: string | undefined;
}) => Promise<BaselinePage>;

/** How since_id follows from what was seen. */
interface Strategy {
  readonly name: string;
  sinceId(seen: { newestFirst: readonly string[]; retrievedAtMs: number }): string | undefined;
}

/** Where the overlap of one baseline ends: this many posts below the newest one. */
const OVERLAP_ITEMS = 20;
/** A walk that is longer is given up: the server does not heed since_id. */
const MOST_PAGES = 400;
/** So many of the newest ids are remembered, for dropping repeats. */
const MOST_KNOWN = 20_000;

const PLAIN: Strategy = { name: 'plain since_id', sinceId: ({ newestFirst }) => newestFirst[0] };

/** Opaque ids allow no arithmetic: then there is but the plain one, which ends at the first post that it knows. */
function strategiesFor(scheme: IdScheme): readonly Strategy[] {
  if (scheme.name === 'opaque') return [PLAIN];
  return [
    PLAIN,
    published(scheme, 1000),
    published(scheme, 2000),
    {
      name: `${OVERLAP_ITEMS} items back`,
      sinceId: ({ newestFirst }) => newestFirst[Math.min(OVERLAP_ITEMS, newestFirst.length - 1)],
    },
  ];
}

/** The published remedy, with `retrieved_at` from the local clock as everybody takes it; carried over to other ids with a time. */
function published(scheme: IdScheme, kMs: number): Strategy {
  const { layout } = scheme;
  return {
    name: `published, k = ${kMs / 1000} s`,
    sinceId({ newestFirst: [latestId], retrievedAtMs }) {
      if (latestId === undefined) return undefined;
      if (layout !== undefined) return sinceIdByRetrievedAt(layout, { latestId, retrievedAtMs, kMs });
      const latestMs = scheme.timeMs(latestId);
      return latestMs === undefined
        ? latestId
        : scheme.floor(Math.min(latestMs, Math.max(retrievedAtMs, latestMs) - kMs));
    },
  };
}

/** The names of all baselines for ids with a time, plain since_id first. */
export const BASELINE_NAMES: readonly string[] = strategiesFor(idScheme('mastodon')).map(({ name }) => name);

/** All that the scheme allows, for one timeline each; plain since_id first. `now` is the local clock, Unix ms. */
export function createBaselinePollers(deps: {
  scheme: IdScheme;
  pageSize: number;
  now: () => number;
  /** The request function of one baseline, by its name. */
  readFor: (name: string) => BaselineRead;
}): readonly BaselinePoller[] {
  const order = listOrder(deps.scheme);
  return strategiesFor(deps.scheme).map((strategy) =>
    createBaselinePoller({ ...deps, order, strategy, read: deps.readFor(strategy.name) }),
  );
}

function createBaselinePoller(deps: {
  scheme: IdScheme;
  order: ListOrder;
  strategy: Strategy;
  pageSize: number;
  now: () => number;
  read: BaselineRead;
}): BaselinePoller {
  const { scheme, order, strategy, pageSize, now, read } = deps;
  const counts = { requests: 0, read: 0, readAgain: 0 };
  const known = new Set<string>();
  let newestFirst: readonly string[] = [];
  let retrievedAtMs = 0;

  const sinceId = () => strategy.sinceId({ newestFirst, retrievedAtMs });

  function ends(since: string | undefined): (id: string) => boolean {
    if (scheme.name === 'opaque') return (id) => known.has(id);
    return since === undefined ? () => false : order.isFrom(since);
  }

  /** Down to since_id: a page that is not full, an empty one, or none to go on with ends it. The first poll reads one page. */
  async function walk(since: string | undefined): Promise<readonly string[]> {
    const isEnd = ends(since);
    const found = new Set<string>();
    let next: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      counts.requests += 1;
      const page = await read({ sinceId: since, next });
      counts.read += page.ids.length;
      const end = page.ids.findIndex(isEnd);
      const above = end < 0 ? page.ids : page.ids.slice(0, end);
      for (const id of above) found.add(id);
      const isLast = page.ids.length < pageSize || page.next === undefined || page.next === next;
      if (since === undefined || isLast || end >= 0) break;
      next = page.next;
    }
    return [...found];
  }

  return {
    name: strategy.name,
    counts,
    sinceId,
    end: () => ends(sinceId()),
    knows: (id) => known.has(id),
    async poll() {
      const sentAtMs = now();
      const readBefore = counts.read;
      const found = await walk(sinceId());
      retrievedAtMs = sentAtMs;
      const fresh = found.filter((id) => !known.has(id));
      counts.readAgain += counts.read - readBefore - fresh.length;
      for (const id of fresh) known.add(id);
      if (known.size > 2 * MOST_KNOWN) forgetOldest(known);
      newestFirst = order.sort(new Set([...fresh, ...newestFirst])).slice(0, OVERLAP_ITEMS + 1);
      return fresh;
    },
  };
}

function forgetOldest(known: Set<string>): void {
  for (const id of known) {
    if (known.size <= MOST_KNOWN) return;
    known.delete(id);
  }
}
