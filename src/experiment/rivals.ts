import { sinceIdByRetrievedAt } from '../ids/since-id.ts';
import { MASTODON, type SnowflakeLayout, TWITTER } from '../ids/snowflake.ts';
import { compareDecimals } from './decimals.ts';

/** The usual ways to poll a timeline of decimal ids, to compare with. All page down to their since_id and drop what they know. */
export interface Rival {
  readonly name: string;
  /** One poll; the ids that are new to it. What `read` throws is passed on, and then nothing changes: the poll never was. */
  poll(): Promise<readonly string[]>;
  /** The since_id that the next poll would send; undefined before the first. */
  sinceId(): string | undefined;
  readonly counts: RivalCounts;
}

export interface RivalCounts {
  readonly requests: number;
  /** Posts in all replies. */
  readonly read: number;
  /** Those of them which were known already. */
  readonly readAgain: number;
}

/** One page of ids as the upstream orders them, newest first. */
export interface RivalPage {
  readonly ids: readonly string[];
  /** The next page's `next`; absent where the upstream says that there is none. */
  readonly next?: string | undefined;
}

export type RivalRead = (request: { sinceId?: string | undefined; next?: string | undefined }) => Promise<RivalPage>;

/** How since_id follows from what was seen. */
interface Strategy {
  readonly name: string;
  sinceId(seen: { newestFirst: readonly string[]; retrievedAtMs: number }): string | undefined;
}

/** Where the overlap of one rival ends: this many posts below the newest one. */
const OVERLAP_ITEMS = 20;
/** A walk that is longer is given up: the server does not heed since_id. */
const MOST_PAGES = 400;
/** So many of the newest ids are remembered, for dropping repeats. */
const MOST_KNOWN = 20_000;

const STRATEGIES: readonly ((layout: SnowflakeLayout) => Strategy)[] = [
  () => ({ name: 'plain since_id', sinceId: ({ newestFirst }) => newestFirst[0] }),
  (layout) => published(layout, 1000),
  (layout) => published(layout, 2000),
  () => ({
    name: `${OVERLAP_ITEMS} items back`,
    sinceId: ({ newestFirst }) => newestFirst[Math.min(OVERLAP_ITEMS, newestFirst.length - 1)],
  }),
];

/** The published remedy, with `retrieved_at` from the local clock as everybody takes it. */
function published(layout: SnowflakeLayout, kMs: number): Strategy {
  return {
    name: `published, k = ${kMs / 1000} s`,
    sinceId: ({ newestFirst: [latestId], retrievedAtMs }) =>
      latestId === undefined ? undefined : sinceIdByRetrievedAt(layout, { latestId, retrievedAtMs, kMs }),
  };
}

/** The names of all rivals, plain since_id first. */
export const RIVAL_NAMES: readonly string[] = STRATEGIES.map((strategy) => strategy(MASTODON).name);

/** All of them, for one timeline each. `now` is the local clock, Unix ms. */
export function createRivals(deps: {
  network: 'mastodon' | 'twitter';
  pageSize: number;
  now: () => number;
  /** The request function of one rival, by its name. */
  readFor: (name: string) => RivalRead;
}): readonly Rival[] {
  const layout = deps.network === 'twitter' ? TWITTER : MASTODON;
  return STRATEGIES.map((strategy) => {
    const { name, sinceId } = strategy(layout);
    return createRival({ ...deps, name, strategy: sinceId, read: deps.readFor(name) });
  });
}

function createRival(deps: {
  name: string;
  strategy: Strategy['sinceId'];
  pageSize: number;
  now: () => number;
  read: RivalRead;
}): Rival {
  const { name, strategy, pageSize, now, read } = deps;
  const counts = { requests: 0, read: 0, readAgain: 0 };
  const known = new Set<string>();
  let newestFirst: readonly string[] = [];
  let retrievedAtMs = 0;

  const sinceId = () => strategy({ newestFirst, retrievedAtMs });

  /** Down to since_id: a page that is not full, an empty one, or none to go on with ends it. The first poll reads one page. */
  async function walk(since: string | undefined): Promise<readonly string[]> {
    const found = new Set<string>();
    let next: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      counts.requests += 1;
      const page = await read({ sinceId: since, next });
      counts.read += page.ids.length;
      for (const id of page.ids) found.add(id);
      const isEnd = page.ids.length < pageSize || page.next === undefined || page.next === next;
      const isBelow = since !== undefined && page.ids.some((id) => compareDecimals(id, since) <= 0);
      if (since === undefined || isEnd || isBelow) break;
      next = page.next;
    }
    return [...found];
  }

  return {
    name,
    counts,
    sinceId,
    async poll() {
      const sentAtMs = now();
      const found = await walk(sinceId());
      retrievedAtMs = sentAtMs;
      const fresh = found.filter((id) => !known.has(id));
      counts.readAgain += found.length - fresh.length;
      for (const id of fresh) known.add(id);
      if (known.size > 2 * MOST_KNOWN) forgetOldest(known);
      newestFirst = [...new Set([...newestFirst, ...fresh])].sort((a, b) => compareDecimals(b, a));
      newestFirst = newestFirst.slice(0, OVERLAP_ITEMS + 1);
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
