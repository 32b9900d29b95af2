import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { experiment } from '../../src/commands/experiment.ts';
import type { IdSchemeName } from '../../src/post.ts';
import { startSimulatedHttp } from '../simulated-http.ts';
import { simulatedId } from '../simulated-ids.ts';
import { createSimulatedTimeline } from '../simulated-timeline.ts';
import { folder, runSluice } from './run-sluice.ts';

/** A town where one post shows late: only after a newer one was read. */
async function startTown(scheme: IdSchemeName, version: string) {
  const timeline = createSimulatedTimeline({ pageSize: 40, isOpaque: scheme === 'opaque' });
  const startMs = Date.now() - 60_000;
  let pages = 0;
  const put = (agoMs: number, n: number, fromPage: number) => {
    const atMs = startMs - agoMs;
    const id = simulatedId(scheme, atMs, n);
    timeline.put({ id, atMs, visibleAtMs: fromPage, text: id });
    return id;
  };
  put(5000, 1, 0);
  const late = put(2000, 2, 6);
  const newer = put(0, 3, 2);
  const answer = () => {
    pages += 1;
    return { nowMs: pages };
  };
  const server = await startSimulatedHttp(timeline, answer, { version });
  after(() => server.close());
  return { url: server.url, late, newer };
}

function townSettings(url = 'http://127.0.0.1:9'): string {
  const town = { kind: 'mastodon', url, timeline: { type: 'public' }, minIntervalMs: 10 };
  return folder({ 'sluice.config.json': JSON.stringify({ sources: { town } }) });
}

async function runUntilLeak(cwd: string): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const stdout = (line: string) => {
    lines.push(line);
    if (line.startsWith('  shown:')) stop();
  };
  const flags = { source: 'town', minutes: 1 };
  const code = await experiment(
    { flags, operand: '', env: {}, cwd, version: '0.0.0', stdout, stderr: () => {} },
    stopped,
  );
  return { code, text: lines.join('\n') };
}

describe('sluice experiment', () => {
  for (const [scheme, version] of [
    ['mastodon', '4.3.1'],
    ['ulid', '0.19.1 (compatible; GoToSocial 0.19.1)'],
    ['uuidv7', '4.0.0 (compatible; Hollo 0.10.0)'],
    ['opaque', '4.0.0 (not true; really snac/2.94)'],
  ] as const) {
    const name = `catches a leak with its evidence, and ends with a summary when it is told to: ${scheme} ids`;
    it(name, { timeout: 30_000 }, async () => {
      const { url, late, newer } = await startTown(scheme, version);
      const { code, text } = await runUntilLeak(townSettings(url));
      const where = scheme === 'opaque' ? '\\d+ places below the top' : '\\d+ ms below the newest id';
      assert.match(text, new RegExp(`^LEAK ${late}, ${where}: missed by plain since_id`, 'm'));
      assert.match(text, new RegExp(`^  passed: .*since_id=.*${newer}`, 'm'));
      assert.match(text, new RegExp(`^  shown: .*\\[${late}\\]`, 'm'));
      assert.match(text, /^3 posts in \d+ shared polls/m);
      assert.match(text, /^plain since_id +1 /m);
      assert.match(text, /^Sluice +0 /m);
      assert.equal(code, 0);
    });
  }

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
