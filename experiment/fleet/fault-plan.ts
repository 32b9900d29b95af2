import { createRandom } from '../random.ts';
import type { FleetOptions } from './options.ts';

/** The busiest gateway out for a while: the one whose work others have to take over. Times are ms since the run began. */
export interface FleetFault {
  readonly atMs: number;
  /** Killed as by `kill -9` and started anew, or stopped by SIGSTOP and gone on with. */
  readonly kind: 'kill' | 'pause';
  readonly forMs: number;
}

/** Shorter and longer than a lease lives. */
const PAUSE_MS = [2000, 15_000] as const;
const DOWN_MS = [500, 10_000] as const;

/** In order of time, kills and pauses in turn, the same for a seed. One gateway is always up. */
export function drawFleetFaults({ seed, gateways, runMs, faultEveryMs }: FleetOptions): readonly FleetFault[] {
  const random = createRandom(seed);
  const between = ([least, most]: readonly [number, number]) => Math.floor(least + random() * (most - least));
  const faults: FleetFault[] = [];
  for (let atMs = faultEveryMs / 2; ; atMs += between([faultEveryMs, 1.5 * faultEveryMs])) {
    const kind = faults.length % 2 === 0 ? 'kill' : 'pause';
    const forMs = between(kind === 'kill' ? DOWN_MS : PAUSE_MS);
    if (atMs + forMs > runMs) return faults;
    const down = faults.filter((fault) => fault.atMs + fault.forMs >= atMs).length;
    if (down < gateways - 1) faults.push({ atMs, kind, forMs });
  }
}
