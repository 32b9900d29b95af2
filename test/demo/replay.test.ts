import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMastodonDemo, snowflakeIds, ulids } from '../../src/demo/mastodon-demo.ts';
import { readRecording } from '../../src/demo/recording.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

function town() {
  return createMastodonDemo({
    host: 'town.example',
    version: '4.4.2',
    sourceUrl: 'https://github.com/mastodon/mastodon',
    recording: readRecording('town'),
    newId: snowflakeIds,
  });
}

const timeline = (search: string) => ({
  path: '/api/v1/timelines/public',
  query: new URLSearchParams(search),
});

test('a post published late has an id below one that was visible before it', () => {
  const { replay } = town();
  const onTime = replay.publish(NOW);
  const late = replay.publish(NOW + 1000, 4000);
  assert.ok(late < onTime);
  assert.deepEqual(replay.visibleBetween(NOW + 1000, NOW + 1000), [late]);
});

test('since_id and max_id are exclusive, and the newest posts above since_id come first', () => {
  const { replay, answer } = town();
  const ids = [0, 1, 2, 3].map((second) => replay.publish(NOW + second * 1000));
  const reply = answer(timeline(`since_id=${ids[0]}&max_id=${ids[3]}`));
  assert.deepEqual(
    (reply.body as { id: string }[]).map((status) => status.id),
    [ids[2], ids[1]],
  );
});

test('an edit changes the newest post that was not edited, and says when', () => {
  const { replay } = town();
  const first = replay.publish(NOW);
  const second = replay.publish(NOW + 1000);
  replay.edit(NOW + 2000);
  replay.edit(NOW + 3000);
  assert.equal(replay.find(second)?.edited_at, new Date(NOW + 2000).toISOString());
  assert.equal(replay.find(first)?.edited_at, new Date(NOW + 3000).toISOString());
});

test('an unknown status is a 404', () => {
  const reply = town().answer({ path: '/api/v1/statuses/1', query: new URLSearchParams() });
  assert.equal(reply.status, 404);
});

test('ULIDs of later times sort higher', () => {
  assert.ok(ulids(NOW, 5) < ulids(NOW + 1, 0));
  assert.equal(ulids(NOW, 5).length, 26);
});

test('a recording that is played again says so in its words', () => {
  const { replay } = town();
  const rounds = (readRecording('town').body as unknown[]).length + 1;
  const ids = Array.from({ length: rounds }, (_, n) => replay.publish(NOW + n * 1000));
  const [first, again] = [ids.at(0), ids.at(-1)].map((id) => replay.find(id ?? '')?.content);
  assert.equal(again, `${first}<p>(Round 2)</p>`);
});
