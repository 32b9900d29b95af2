import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMastodonDemo, snowflakeIds } from '../../src/demo/mastodon-demo.ts';
import { createPlainPoller } from '../../src/demo/plain-poller.ts';
import { readRecording } from '../../src/demo/recording.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

function plainPollerOverTown() {
  const { replay, answer } = createMastodonDemo({
    host: 'town.example',
    version: '4.4.2',
    sourceUrl: 'https://github.com/mastodon/mastodon',
    recording: readRecording('town'),
    newId: snowflakeIds,
  });
  const fetchPage = async (input: string | URL | Request) => {
    const { pathname, searchParams } = new URL(String(input));
    return Response.json(answer({ path: pathname, query: searchParams }).body);
  };
  return { replay, plain: createPlainPoller('http://127.0.0.1:1', fetchPage) };
}

test('the plain poller sees every post of a burst, however many pages it fills', async () => {
  const { replay, plain } = plainPollerOverTown();
  replay.publish(NOW);
  await plain.poll();
  const burst = Array.from({ length: 95 }, (_, n) => replay.publish(NOW + 1000 + n));
  await plain.poll();
  assert.deepEqual(
    burst.filter((id) => !plain.seen.has(id)),
    [],
  );
});

test('the plain poller loses a post that becomes visible below the newest id', async () => {
  const { replay, plain } = plainPollerOverTown();
  replay.publish(NOW);
  await plain.poll();
  const late = replay.publish(NOW + 1000, 4000);
  const onTime = replay.publish(NOW + 2000);
  await plain.poll();
  assert.equal(plain.seen.has(late), false);
  assert.equal(plain.seen.has(onTime), true);
});
