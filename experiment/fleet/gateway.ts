import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/clock.ts';
import { openStore } from '../../src/stores/registry.ts';
import { createPollers } from '../../src/timeline/pollers.ts';
import { fleetSources, type GatewayOrder } from './sources.ts';

/** One gateway of the fleet, a process of its own: polls until it is killed, or its parent is gone. */
const order: GatewayOrder = JSON.parse(process.argv[2] ?? '');
const { settings, sources } = fleetSources(order);
const log = (line: string) => console.error(line);
const store = await openStore(settings.store, { clock: systemClock, log });
const keep = settings.timeline;
const pollers = createPollers({ sources, store, clock: systemClock, holder: randomUUID(), keep, log });
pollers.start();
// A reader a second asks for each source, which keeps it at its least interval; each at another moment, as readers do.
// The timers also hold the process.
for (const { logId } of sources) {
  setTimeout(() => setInterval(() => void pollers.refresh([logId], 0), 1000), Math.random() * 1000);
}
process.on('disconnect', () => process.exit());
