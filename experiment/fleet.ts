import { parseArgs } from 'node:util';
import { FLEET, SMALL_FLEET } from './fleet/options.ts';
import { runFleet } from './fleet/run.ts';
import { fleetFailures, fleetTable } from './fleet/summary.ts';

const USAGE = `npm run experiment:fleet -- [options]

Three gateways on a real Redis share 20 sources of 4 tokens, while they are killed and paused. Tells how much each token asked in every
stretch, against what its server allows, and how long a source was not polled. About 10 minutes of real time.

  --seed N      which faults, and when; default 1
  --small       the one of about a minute
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  console.log(USAGE);
} else if (!/^\d{1,9}$/.test(values.seed)) {
  console.error(`--seed: required a whole number, got ${values.seed}`);
  process.exitCode = 2;
} else {
  const interrupted = new AbortController();
  const options = { ...(values.small ? SMALL_FLEET : FLEET), seed: Number(values.seed) };
  const result = await runFleet(options, interrupted.signal);
  const failed = fleetFailures(result);
  console.log(`${fleetTable(result)}\n`);
  console.log(failed.length === 0 ? 'All that must hold, holds.' : failed.join('\n'));
  // The clients of the parent's own sources stay open.
  process.exit(failed.length === 0 ? 0 : 1);
}
