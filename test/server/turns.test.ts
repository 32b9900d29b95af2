import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTurns } from '../../src/server/turns.ts';

/** Each piece of work takes so long, and tells when it ran: after how many turns of the event loop. */
async function turnsOf(count: number, workMs: number, maxMs = 10): Promise<readonly number[]> {
  let nowMs = 0;
  let turns = 0;
  const began: number[] = [];
  const countTurns = () => {
    turns += 1;
    if (began.length < count) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const turn = createTurns({ monotonic: () => nowMs }, maxMs);
  const work = async () => {
    await turn();
    began.push(turns);
    nowMs += workMs;
  };
  const all: Promise<void>[] = [];
  // One after the other in one turn, as a server takes in requests that came together.
  for (let n = 0; n < count; n++) {
    all.push(work());
    await Promise.resolve();
  }
  await Promise.all(all);
  return began;
}

test('little work goes on at once', async () => {
  assert.deepEqual(new Set(await turnsOf(20, 0.1)), new Set([0]));
});

test('each piece of long work has a turn of its own, so that others come between', async () => {
  const began = await turnsOf(20, 100);
  assert.deepEqual(
    began,
    began.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(began).size, 20);
});

test('where a turn has room for one alone, each has its own, however little it does', async () => {
  assert.equal(new Set(await turnsOf(20, 0, 0)).size, 20);
});

test('who comes while others wait comes after them', async () => {
  let nowMs = 0;
  const turn = createTurns({ monotonic: () => nowMs }, 10);
  const order: string[] = [];
  const work = async (name: string) => {
    await turn();
    order.push(name);
    nowMs += 100;
  };
  const all = [work('a')];
  await Promise.resolve();
  all.push(work('b'), work('c'));
  await nextTurn();
  all.push(work('d'));
  await Promise.all(all);
  assert.deepEqual(order, ['a', 'b', 'c', 'd']);
});
