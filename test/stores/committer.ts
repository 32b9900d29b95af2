import { writeSync } from 'node:fs';
import { openStore } from '../../src/stores/registry.ts';
import { NOW, samplePost, sampleRecord, written } from './samples.ts';

/**
 * Another process for the contract: `committer.ts SPEC FIRST STEP COUNT` appends COUNT posts to the log `town`, numbered
 * from FIRST by STEP, and prints each version that it was acknowledged, one a line.
 */
const [spec = '', first = '0', step = '1', count = '0'] = process.argv.slice(2);
const store = await openStore(spec);
for (let done = 0; done < Number(count); ) {
  const { version } = await store.timelines.readLog('town');
  const id = `${Number(first) + done * Number(step)}`;
  const result = await store.timelines.commit({
    logId: 'town',
    expectedVersion: version,
    nowMs: NOW,
    append: [sampleRecord(id)],
    posts: [written(samplePost(id))],
  });
  if (!result.committed) continue;
  writeSync(1, `${result.state.version}\n`);
  done++;
}
await store.close();
