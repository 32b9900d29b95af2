import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../src/commands/decode.ts';
import { emptyServedSet } from '../../src/ids/served-set.ts';
import { createTokens, logTag } from '../../src/ids/tokens.ts';
import { folder, runSluice } from './run-sluice.ts';

const KEY = 'a key that is long enough for everybody';
const town = { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'public' } };
const withKey = () => folder({ 'sluice.config.json': JSON.stringify({ sources: { town }, tokens: { keys: [KEY] } }) });

const tokens = createTokens([Buffer.from(KEY, 'utf8')]);
const since = tokens.sealTimeline('since', {
  sources: [
    {
      tag: logTag('mastodon:town.example:public'),
      joined: '1792000000000-0',
      passed: '1792000000500-3',
      history: true,
    },
  ],
});
const feed = tokens.sealFeedCursor('ann', {
  feedId: '00112233445566ff',
  offset: 20,
  base: 100,
  served: emptyServedSet,
  successor: true,
});

/** Runs the command in this process: a start of its own is worth one test. */
async function explain([operand = '', , viewer]: readonly string[], cwd = folder({})) {
  const out: string[] = [];
  const code = await decode({
    operand,
    flags: { viewer },
    env: {},
    cwd,
    version: '0.0.0',
    stdout: (line) => out.push(line),
    stderr: (line) => out.push(`stderr: ${line}`),
  });
  return { code, stdout: `${out.join('\n')}\n` };
}

describe('sluice decode', () => {
  it('reads a number in every layout, and says which times are plausible', async () => {
    // The post of the published article's time: 2021-11-18T22:42:46.531Z.
    const id = (BigInt(Date.UTC(2021, 10, 18, 22, 42, 46, 531) - 1288834974657) << 22n) | (843n << 12n) | 7n;
    const { code, stdout } = await runSluice(['decode', String(id)]);
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}TWITTER +2021-11-18T22:42:46\.531Z +plausible +generator 843, sequence 7$/m);
    assert.match(stdout, /^ {2}MASTODON +\d{4}-.*Z +not plausible +sequence \d+$/m);
    for (const layout of ['CECOCHAT', 'PIXELFED', 'TAKAHE'])
      assert.match(stdout, new RegExp(`^ {2}${layout} +2\\d`, 'm'));
  });

  it('reads ids of other alphabets', async () => {
    const timeMs = Date.UTC(2026, 10, 20, 12);
    const hex = timeMs.toString(16).padStart(12, '0');
    const [uuid, ulid] = await Promise.all([
      explain([`${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`]),
      explain(['01ARZ3NDEKTSV4RRFFQ69G5FAV']),
    ]);
    assert.match(uuid.stdout, /^ {2}UUIDv7 +2026-11-20T12:00:00\.000Z/m);
    assert.match(ulid.stdout, /^ {2}ULID +2016-07-30T23:54:10\.259Z +plausible$/m);
  });

  it('takes the ids of Sluice apart, down to the time of the post', async () => {
    const upstreamId = String(BigInt(Date.UTC(2026, 0, 1)) << 16n);
    const [entry, source] = await Promise.all([
      explain([`entry:town:${upstreamId}@town.example:8443`]),
      explain(['source:town']),
    ]);
    assert.match(
      entry.stdout,
      /^Sluice id: entry\n {2}source +town\n {2}upstream id +\d+\n {2}host +town\.example:8443$/m,
    );
    assert.match(entry.stdout, /^ {2}MASTODON +2026-01-01T00:00:00\.000Z +plausible +sequence 0$/m);
    assert.equal(source.stdout, 'Sluice id: source\n  key  town\n');
  });

  it('reads a timeline token, and verifies it with the keys of the settings', async () => {
    const cwd = withKey();
    const forged = since.slice(0, -1) + (since.endsWith('A') ? 'Q' : 'A');
    const [unknown, known, wrong] = await Promise.all([
      explain([since]),
      explain([since], cwd),
      explain([forged], cwd),
    ]);
    assert.match(unknown.stdout, /^token, version 1: since$/m);
    assert.match(unknown.stdout, /^ {2}signature +not verified: no key/m);
    assert.match(known.stdout, /^ {2}signature +valid, key 0$/m);
    assert.match(
      known.stdout,
      /^ {2}source town +joined at 1792000000000-0 \(2026-10-14T17:46:40\.000Z\), passed 1792000000500-3 \(2026-10-14T17:46:40\.500Z\), with history$/m,
    );
    assert.ok(wrong.code === 1 || /NOT VALID: no key verifies it/.test(wrong.stdout));
  });

  it('tells what the cursor of a timeline token missed', async () => {
    const at = { tag: '00112233445566ff', joined: '1792000000000-0', passed: '1792000000000-0', history: false };
    const missed = { fromMs: 1791999999000, foundAtMs: 1792000000500 };
    const ofToken = (more: { fromMs: number | undefined; foundAtMs: number }) =>
      explain([tokens.sealTimeline('since', { sources: [{ ...at, missed: more }] })]);
    const [some, all] = await Promise.all([ofToken(missed), ofToken({ ...missed, fromMs: undefined })]);
    assert.match(
      some.stdout,
      /; missed what was trimmed from 2026-10-14T17:46:39\.000Z to where it joined, found 2026-10-14T17:46:40\.500Z$/m,
    );
    assert.match(all.stdout, /; missed what was trimmed from the beginning to where it joined, found /);
  });

  it('reads a feed cursor, and verifies it for its viewer', async () => {
    const cwd = withKey();
    const [nobody, ann, bob] = await Promise.all([
      explain([feed], cwd),
      explain([feed, '--viewer', 'ann'], cwd),
      explain([feed, '--viewer', 'bob'], cwd),
    ]);
    assert.match(nobody.stdout, /^token, version 1: feed, bound to a viewer$/m);
    assert.match(nobody.stdout, /^ {2}feed +00112233445566ff$/m);
    assert.match(nobody.stdout, /^ {2}next +raw place 20 of the instance, position 120 of the scroll$/m);
    assert.match(nobody.stdout, /not verified: name its viewer with --viewer/);
    assert.match(ann.stdout, /^ {2}signature +valid, key 0$/m);
    assert.match(bob.stdout, /^ {2}signature +NOT VALID: no key verifies it$/m);
  });

  it('says of anything else that it is neither, without its control characters', async () => {
    const runs = await Promise.all(
      ['nonsense!', ' ', '\u001b[31mred', 'x'.repeat(5000)].map((text) => explain([text])),
    );
    for (const { code, stdout } of runs) {
      assert.equal(code, 1);
      assert.match(stdout, /^stderr: sluice: "[^\p{Cc}]{0,60}" is no id of a known layout and no token\n$/u);
    }
  });
});
