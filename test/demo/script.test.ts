import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMastodonDemo, snowflakeIds, ulids } from '../../src/demo/mastodon-demo.ts';
import { readRecording } from '../../src/demo/recording.ts';
import { createDemoScript } from '../../src/demo/script.ts';
import { createTwitterDemo } from '../../src/demo/twitter-demo.ts';

const START = Date.parse('2026-11-20T12:00:00Z');

function runScript(seconds: number) {
  const mastodon = (host: string, name: string, newId = snowflakeIds) =>
    createMastodonDemo({
      host,
      version: '4.4.2',
      sourceUrl: 'https://github.com/mastodon/mastodon',
      recording: readRecording(name),
      newId,
    });
  const networks = {
    town: mastodon('town.example', 'town'),
    square: mastodon('square.example', 'town'),
    harbour: mastodon('harbour.example', 'town'),
    pond: mastodon('pond.example', 'pond', ulids),
    birds: createTwitterDemo(readRecording('birds')),
  };
  let nowMs = START;
  const script = createDemoScript(networks, () => nowMs);
  script.prologue(START);
  for (let second = 1; second <= seconds; second++) {
    nowMs = START + second * 1000;
    script.step(nowMs);
  }
  return { networks, script, now: () => nowMs, wait: (ms: number) => (nowMs += ms) };
}

const page = { path: '/api/v1/timelines/public', query: new URLSearchParams() };

test('within a minute, three posts of town become visible below the newest one', () => {
  const { networks } = runScript(60);
  const inOrderOfVisibility = networks.town.replay.visibleBetween(START + 1, START + 60_000);
  const late = inOrderOfVisibility.filter((id, at) => inOrderOfVisibility.slice(0, at).some((earlier) => earlier > id));
  assert.equal(late.length, 3);
});

test('within a minute, a post of town is edited and every network has new posts', () => {
  const { networks } = runScript(60);
  const edited = networks.town.replay.page({ limit: 40 }).filter((status) => status.edited_at !== null);
  assert.equal(edited.length, 2);
  for (const [name, { replay }] of Object.entries(networks)) {
    assert.ok(replay.visibleBetween(START + 1, START + 60_000).length > 0, name);
  }
});

test('square throttles the second page of its burst, and answers again when the limit resets', () => {
  const { script, wait } = runScript(12);
  assert.equal(script.square(page).status, 200);
  assert.equal(script.square(page).status, 429);
  assert.equal(script.square(page).status, 429);
  wait(6001);
  assert.equal(script.square(page).status, 200);
});

test('harbour is out of order for 20 s of every 40', () => {
  assert.equal(runScript(19).script.harbour(page).status, 200);
  assert.equal(runScript(20).script.harbour(page).status, 503);
  assert.equal(runScript(40).script.harbour(page).status, 200);
});
