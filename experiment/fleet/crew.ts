import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { FleetFault } from './fault-plan.ts';
import type { GatewayOrder } from './sources.ts';

/** The gateways of a fleet as processes, and what happens to them. */
export interface Crew {
  /** Which gateways work. */
  up(): readonly number[];
  /** Kills or pauses one, and has it back when the fault is over; at once when `signal` aborts. */
  suffer(gateway: number, fault: FleetFault, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export function startCrew(order: Omit<GatewayOrder, 'name'>): Crew {
  const launch = (gateway: number) =>
    fork(new URL('./gateway.ts', import.meta.url), [JSON.stringify({ ...order, name: `gateway-${gateway}` })], {
      execArgv: [],
      stdio: ['ignore', 'ignore', process.env.FLEET_LOG ? 'inherit' : 'ignore', 'ipc'],
    });
  const children: ChildProcess[] = Array.from({ length: order.options.gateways }, (_, n) => launch(n));
  const down = new Set<number>();
  // One that is paused would outlive its parent.
  const killAll = () => children.map((child) => child.kill('SIGKILL'));
  process.once('exit', killAll);

  return {
    up: () => [...children.keys()].filter((gateway) => !down.has(gateway)),
    async suffer(gateway, { kind, forMs }, signal) {
      const child = children[gateway];
      down.add(gateway);
      child?.kill(kind === 'kill' ? 'SIGKILL' : 'SIGSTOP');
      await wait(forMs, signal);
      if (kind === 'kill') children[gateway] = launch(gateway);
      else child?.kill('SIGCONT');
      down.delete(gateway);
    },
    async stop() {
      process.off('exit', killAll);
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          child.kill('SIGKILL');
          await once(child, 'exit');
        }),
      );
    },
  };
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
