import { setTimeout as wait } from 'node:timers/promises';

const LOOK_AGAIN_MS = 20;

/** Resolves when the condition holds; throws after `boundMs`, naming what was waited for. A condition that throws does not hold yet. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  boundMs: number = 20_000,
): Promise<void> {
  const endMs = performance.now() + boundMs;
  let cause: unknown;
  while (performance.now() < endMs) {
    try {
      if (await condition()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await wait(LOOK_AGAIN_MS);
  }
  throw new Error(`waited ${boundMs} ms until ${what}`, { cause });
}
