import fc from 'fast-check';

/**
 * `npm test` tries the same cases each time, so that a change is what makes it fail; `npm run test:random` draws new ones.
 * With the seed that a failure prints: SEED=… npm test
 */
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });
