import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** `npm run test:model`: the model test with 100,000 steps on each store, some minutes. */
const { status } = spawnSync(process.execPath, ['--test', join(import.meta.dirname, '../model.test.ts')], {
  env: { MODEL_STEPS: '100000', ...process.env },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
