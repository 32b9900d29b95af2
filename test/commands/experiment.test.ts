import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { experiment } from '../../src/commands/experiment.ts';
import { type SimulatedHttp, startSimulatedHttp } from '../simulated-http.ts';
import { simulatedId } from '../simulated-ids.ts';
import { createSimulatedTimeline } from '../simulated-timeline.ts';
import { folder, runSluice } from './run-sluice.ts';

/** A town where one post shows late: only after a newer one was read. */
const START_MS = Date.now() - 60_000;
const timeline = createSimulatedTimeline({ pageSize: 40 });
const idAt = (agoMs: number, n: number) => simulatedId('mastodon', START_MS - agoMs, n);
const [old, late, newer] = [idAt(5000, 1), idAt(2000, 2), idAt(0, 3)];
let pages = 0;
let server: SimulatedHttp;

before(async () => {
  const visible = (id: string, fromPage: number) =>
    timeline.put({ id, atMs: START_MS, visibleAtMs: fromPage, text: id });
  visible(old, 0);
  visible(newer, 2);
  visible(late, 6);
  server = await startSimulatedHttp(timeline, () => {
    pages += 1;
    return { nowMs: pages };
  });
});
after(() => server.close());

function townSettings(timelineType = 'public'): string {
  const town = { kind: 'mastodon', url: server.url, timeline: { type: timelineType }, minIntervalMs: 10 };
  return folder({ 'sluice.config.json': JSON.stringify({ sources: { town } }) });
}

describe('sluice experiment', () => {
  it('catches a leak with its evidence, and ends with a summary when it is told to', { timeout: 30_000 }, async () => {
    const lines: string[] = [];
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const code = await experiment(
      {
        flags: { source: 'town', minutes: 1 },
        operand: '',
        env: {},
        cwd: townSettings(),
        version: '0.0.0',
        stdout: (line) => {
          lines.push(line);
          if (line.startsWith('  shown:')) stop();
        },
        stderr: () => {},
      },
      stopped,
    );
    const text = lines.join('\n');
    assert.match(
      text,
      new RegExp(`^LEAK ${late}, \\d+ ms below the newest id: missed by plain since_id; published`, 'm'),
    );
    assert.match(text, new RegExp(`^  passed: .*since_id=.*${newer}`, 'm'));
    assert.match(text, new RegExp(`^  shown: .*\\[${late}\\]`, 'm'));
    assert.match(text, /^3 posts in \d+ shared polls/m);
    assert.match(text, /^plain since_id +1 /m);
    assert.match(text, /^Sluice +0 /m);
    assert.equal(code, 0);
  });

  it('says which source it wants, and what it cannot compare', async () => {
    const missing = await runSluice(['experiment'], { cwd: townSettings() });
    assert.deepEqual([missing.code, missing.stderr.split('\n')[0]], [2, 'sluice: experiment needs --source ID']);
    const unknown = await runSluice(['experiment', '--source', 'x'], { cwd: townSettings() });
    assert.deepEqual([unknown.code, unknown.stderr], [2, 'sluice: --source: required one of town, got x\n']);
    for (const minutes of ['0', '1441', '1.5', 'ten']) {
      const { code } = await runSluice(['experiment', '--source', 'town', '--minutes', minutes], {
        cwd: townSettings(),
      });
      assert.equal(code, 2, minutes);
    }
  });
});
