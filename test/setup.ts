import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';

/**
 * `npm test` tries the same cases each time, so that a change is what makes it fail; `npm run test:random` draws new ones.
 * With the seed that a failure prints: SEED=… npm test
 */
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

/** Most of what the tests take is the start of processes: hundreds of them, which load the same modules. */
const CACHE = join(import.meta.dirname, '../node_modules/.cache/compile');
enableCompileCache(CACHE);
process.env.NODE_COMPILE_CACHE = CACHE;
