import type { Scenario } from './scenarios.ts';

/** What goes wrong in a rough run, and when. Times are ms since the run began. */
export interface FaultPlan {
  /** The gateway is killed and started anew. */
  readonly restartsMs: readonly number[];
  /** The server answers everybody with 429 between the two. */
  readonly storms: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** The gateway's wall clock is set forward or back. */
  readonly steps: readonly { readonly atMs: number; readonly byMs: number }[];
}

const CALM: FaultPlan = { restartsMs: [], storms: [], steps: [] };
const RESTARTS = 4;
const STORMS = 3;
/** Seconds to hours, there and back. */
const STEPS_MS = [3000, -3000, 3_600_000, -7_200_000, 3_597_000, 3000];

export function drawFaultPlan({ isRough, trafficMs }: Scenario, random: () => number): FaultPlan {
  if (!isRough) return CALM;
  const within = () => Math.floor(random() * trafficMs);
  const storms = Array.from({ length: STORMS }, () => {
    const fromMs = within();
    return { fromMs, toMs: fromMs + Math.floor(10_000 + random() * 0.1 * trafficMs) };
  });
  return {
    restartsMs: Array.from({ length: RESTARTS }, within),
    storms,
    steps: STEPS_MS.map((byMs) => ({ atMs: within(), byMs })),
  };
}
