import { describe, type TestContext } from 'node:test';
import type { Store } from '../../src/stores/store.ts';
import { describeCaches, describeLives } from './contract-caches.ts';
import { describeCommits } from './contract-commit.ts';
import { describeExpiry } from './contract-expiry.ts';
import { describeFeeds } from './contract-feeds.ts';
import { describeGenerators } from './contract-generators.ts';
import { describeLeases } from './contract-leases.ts';
import { describeModel } from './contract-model.ts';
import { describeNotes } from './contract-notes.ts';
import { describePositions } from './contract-positions.ts';
import { describePosts } from './contract-posts.ts';
import { describePublishing } from './contract-publishing.ts';
import { describeQuotas } from './contract-quotas.ts';
import { describeReading } from './contract-reading.ts';
import { describeRegistry } from './contract-registry.ts';
import { describeSharing } from './contract-sharing.ts';
import { describeTrim } from './contract-trim.ts';

/** Opens an empty store, closed when the test ends. */
export type Use = (t: TestContext) => Promise<Store>;

export interface ContractOptions {
  /** The spec by which another process opens what the last `open` gave. Absent: nobody else can reach it. */
  readonly spec?: () => string;
  /** False where a server's own clock, not `deleteExpired(nowMs)`, ends what has expired. */
  readonly expiresByCall?: boolean;
  /** True where signals reach other processes. */
  readonly callsOthers?: boolean;
  /** Lets leases grow older where a server's own clock, not `nowMs`, ends them. */
  readonly passTime?: (ms: number) => Promise<void>;
}

/** What every store must do. `open` gives an empty store each time. */
export function describeStoreContract(name: string, open: () => Promise<Store>, options: ContractOptions = {}): void {
  const use: Use = async (t) => {
    const store = await open();
    t.after(() => store.close());
    return store;
  };
  describe(name, () => {
    describeCommits(use);
    describePositions(use);
    describeReading(use);
    describeTrim(use);
    describeRegistry(use);
    describeModel(open);
    describePosts(use);
    describeFeeds(use);
    describePublishing(use);
    describeLives(use);
    describeLeases(use, options.passTime);
    describeNotes(use);
    describeQuotas(use);
    describeGenerators(use, options.passTime);
    if (options.expiresByCall ?? true) describeExpiry(use);
    if (options.spec) describeCaches(use, options.spec);
    if (options.spec) describeSharing(use, options.spec, options.callsOthers ?? false);
  });
}
