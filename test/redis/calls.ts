import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailableError } from '../../src/errors.ts';

/** Calls end by their deadlines of 2 s, of which one operation may meet several; what is beyond has been forgotten. */
const ENDS_WITHIN_MS = 8_000;
/** Who was refused asks again after so long. */
const BACK_OFF_MS = 10;

/** Clients that call a store over and over while its servers fail. */
export interface Calls {
  /** Begins a client that takes one turn after another; a turn asks through `call`, which gives undefined for what failed. */
  begin(turn: (call: Call) => Promise<void>): void;
  /** True when every client's last calls, this many in a row, succeeded since `forget`. */
  areWell(inARow: number): boolean;
  forget(): void;
  failures(): readonly unknown[];
  /** Ends all clients once `work` has ended; throws what a turn threw at once. */
  untilOver<T>(work: () => Promise<T>): Promise<T>;
}

export type Call = <T>(work: () => Promise<T>) => Promise<T | undefined>;

export function createCalls(): Calls {
  const clients: { inARow: number; ends: Promise<void> }[] = [];
  const failures: unknown[] = [];
  const broken = Promise.withResolvers<never>();
  let isOver = false;

  function begin(turn: (call: Call) => Promise<void>): void {
    const client = { inARow: 0, ends: Promise.resolve() };
    const call: Call = async (work) => {
      const startMs = performance.now();
      try {
        const result = await work();
        client.inARow += 1;
        return result;
      } catch (error) {
        assert.ok(error instanceof StoreUnavailableError, error as Error);
        client.inARow = 0;
        failures.push(error);
        await wait(BACK_OFF_MS);
        return undefined;
      } finally {
        const tookMs = performance.now() - startMs;
        assert.ok(tookMs < ENDS_WITHIN_MS, `a call took ${tookMs} ms`);
      }
    };
    client.ends = (async () => {
      while (!isOver) await turn(call);
    })();
    client.ends.catch(broken.reject);
    clients.push(client);
  }

  return {
    begin,
    areWell: (inARow) => clients.every((client) => client.inARow >= inARow),
    forget() {
      for (const client of clients) client.inARow = 0;
    },
    failures: () => failures,
    async untilOver(work) {
      try {
        return await Promise.race([work(), broken.promise]);
      } finally {
        isOver = true;
        await Promise.all(clients.map((client) => client.ends));
      }
    },
  };
}
