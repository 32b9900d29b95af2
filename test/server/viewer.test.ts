import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { UnauthenticatedError } from '../../src/errors.ts';
import { createViewerReader } from '../../src/server/viewer.ts';

const byHeader = createViewerReader({
  kind: 'header',
  name: 'X-User-Id',
  trustedPeers: ['127.0.0.1', '10.1.0.0/16', 'fd00::/8'],
});

test('without sign-in everybody is the one viewer of the settings', () => {
  const read = createViewerReader({ kind: 'none', userId: 'demo' });
  assert.deepEqual(read(requestFrom('203.0.113.9', { 'x-user-id': ['ann'] })), { userId: 'demo' });
});

test('the header of a trusted peer names the viewer, by address, by block, and mapped into IPv6', () => {
  for (const peer of ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', '::FFFF:10.1.255.255', 'fd12::1', 'fd12::1%eth0']) {
    assert.deepEqual(byHeader(requestFrom(peer, { 'x-user-id': ['ann'] })), { userId: 'ann' }, peer);
  }
});

test('the header of any other peer counts for nothing, however malformed', () => {
  for (const peer of ['127.0.0.2', '10.2.0.1', '::1', '::ffff:203.0.113.9', undefined]) {
    for (const values of [['ann'], [''], ['ann', 'bob']]) {
      assert.deepEqual(byHeader(requestFrom(peer, { 'x-user-id': values })), {}, String(peer));
    }
  }
});

test('without the header nobody is signed in', () => {
  assert.deepEqual(byHeader(requestFrom('127.0.0.1', { 'x-user': ['ann'] })), {});
});

test('an empty, repeated or overlong header of a trusted peer is refused', () => {
  assert.deepEqual(byHeader(requestFrom('127.0.0.1', { 'x-user-id': ['a'.repeat(256)] })), { userId: 'a'.repeat(256) });
  for (const values of [[''], ['ann', 'ann'], ['a'.repeat(257)]]) {
    assert.throws(() => byHeader(requestFrom('127.0.0.1', { 'x-user-id': values })), UnauthenticatedError);
  }
});

test('a header is UTF-8, whatever else it holds is refused', () => {
  const latin1 = (...bytes: number[]) => Buffer.from(bytes).toString('latin1');
  const read = (value: string) => byHeader(requestFrom('127.0.0.1', { 'x-user-id': [value] })).userId;
  assert.equal(read(Buffer.from('Зоя').toString('latin1')), 'Зоя');
  assert.equal(read(Buffer.from('я'.repeat(256)).toString('latin1')), 'я'.repeat(256));
  assert.equal(read(Buffer.from('\ufeffann').toString('latin1')), '\ufeffann');
  for (const value of [latin1(0xe9), latin1(0xc0, 0xaf), latin1(0xed, 0xa0, 0x80)]) {
    assert.throws(() => read(value), UnauthenticatedError);
  }
});

function requestFrom(remoteAddress: string | undefined, headersDistinct: Record<string, string[]>): IncomingMessage {
  return { socket: { remoteAddress }, headersDistinct } as unknown as IncomingMessage;
}
