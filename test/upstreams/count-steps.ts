import { Session } from 'node:inspector/promises';
import { searchSteps } from './regexp-steps.ts';

// From the start on and all the time: V8 forgets the counts of code that it throws away in between.
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/**
 * What `work` costs until it is done, counted and not timed: the steps of every regular expression that it uses, libraries' among them, and how
 * often the blocks of the code that is named by `scripts` (parts of its URLs) ran.
 */
export async function countSteps(work: () => unknown, scripts: readonly string[]): Promise<number> {
  let expressions = 0;
  const blocks = await countBlocks(async () => {
    expressions = await countExpressions(work);
  }, scripts);
  return expressions + blocks;
}

/** How often the blocks of the code that is named by `scripts` ran. */
export async function countBlocks(work: () => unknown, scripts: readonly string[]): Promise<number> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ours = result.filter(({ url }) => scripts.some((part) => url.includes(part)));
  const blocks = ours.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
  return blocks.reduce((sum, count) => sum + count, 0);
}

/** Whatever uses a regular expression calls this method, as soon as it is another than V8's own. */
async function countExpressions(work: () => unknown): Promise<number> {
  const { exec } = RegExp.prototype;
  let steps = 0;
  let isCounting = false;
  RegExp.prototype.exec = function (text) {
    if (!isCounting) {
      isCounting = true;
      steps += searchSteps(this, String(text), this.global || this.sticky ? this.lastIndex : 0);
      isCounting = false;
    }
    return exec.call(this, text);
  };
  try {
    await work();
  } finally {
    RegExp.prototype.exec = exec;
  }
  return steps;
}
