import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { machine } from './side-by-side.ts';

const BENCHES = ['reply-to-log', 'nothing-new', 'memory', 'many-sources', 'hostile-posts', 'pages', 'generations'];
const USAGE = `npm run bench -- [NAME...]

Measures on this machine, each figure beside a peer in the same run. Names: ${BENCHES.join(', ')}; default: all.
`;

const names = process.argv.slice(2);
const unknown = names.filter((name) => !BENCHES.includes(name));
if (names.includes('--help') || names.includes('-h')) {
  console.log(USAGE);
} else if (unknown.length > 0) {
  console.error(`no bench is called ${unknown.join(', ')}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  console.log(machine());
  for (const name of names.length > 0 ? names : BENCHES) {
    // A process of its own each: what one leaves behind slows none of the others.
    const { status } = spawnSync(process.execPath, ['--expose-gc', join(import.meta.dirname, `${name}.ts`)], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exitCode = 1;
  }
}
