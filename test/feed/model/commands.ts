import fc from 'fast-check';
import type { World } from './world.ts';

type Command = fc.AsyncCommand<object, World>;

/** How many steps were made over all runs. */
export const steps = { made: 0 };

/** A command that says what it does, and can always be given. */
function command(name: string, values: readonly unknown[], run: (world: World) => Promise<void> | void): Command {
  return {
    check: () => true,
    async run(_model, world) {
      steps.made += 1;
      await run(world);
    },
    toString: () => `${name}(${values.join(', ')})`,
  };
}

const nat = fc.nat(1000);
const limit = fc.integer({ min: 1, max: 12 });

const first = fc.tuple(nat, nat, limit).map((v) => command('first', v, (world) => world.first(...v)));
const race = fc.tuple(nat, limit).map((v) => command('race', v, (world) => world.race(...v)));
const next = fc.tuple(nat, nat, limit).map((v) => command('next', v, (world) => world.next(...v)));
const scroll = fc.tuple(nat, limit, fc.boolean()).map((v) => command('scroll', v, (world) => world.scroll(...v)));
const refresh = fc.tuple(nat, nat, limit).map((v) => command('refresh', v, (world) => world.refresh(...v)));
const abandon = fc.tuple(nat, nat, limit).map((v) => command('abandon', v, (world) => world.abandon(...v)));
const foreign = nat.map((v) => command('foreign', [v], (world) => world.foreign(v)));
const evict = fc.tuple(nat, nat).map((v) => command('evict', v, (world) => world.evict(...v)));
const dump = nat.map((v) => command('dump', [v], (world) => world.dump(v)));
const failover = fc.tuple(nat, fc.boolean()).map((v) => command('failover', v, (world) => world.failover(...v)));
const restart = nat.map((v) => command('restart', [v], (world) => world.restart(v)));
const advance = fc
  .constantFrom(1, 6_000, 700_000, 4_000_000)
  .map((v) => command('advance', [v], (world) => world.advance(v)));
const show = fc.tuple(nat, fc.boolean()).map((v) => command('show', v, (world) => world.show(...v)));
const loseReferences = fc
  .integer({ min: 1, max: 12 })
  .map((v) => command('loseReferences', [v], (w) => w.loseReferences(v)));
const loseStore = nat.map((v) => command('loseStore', [v], (world) => world.loseStore(v)));
const naming = fc.boolean().map((v) => command('naming', [v], (world) => world.naming(v)));
const budget = fc.tuple(nat, fc.boolean()).map((v) => command('budget', v, (world) => world.budget(...v)));
const grow = fc.integer({ min: 1, max: 4 }).map((v) => command('grow', [v], (world) => world.grow(v)));

const often = (times: number, arbitrary: fc.Arbitrary<Command>) => Array.from({ length: times }, () => arbitrary);

/** What devices, gateways, and a store without mercy do, by turns. */
export const commands = fc.commands(
  [
    ...often(3, first),
    race,
    ...often(5, next),
    ...often(8, scroll),
    refresh,
    ...often(2, abandon),
    foreign,
    ...often(3, evict),
    dump,
    ...often(2, failover),
    restart,
    ...often(2, advance),
    ...often(2, show),
    loseReferences,
    loseStore,
    naming,
    ...often(2, budget),
    grow,
  ],
  { maxCommands: 100, size: 'max' },
);
