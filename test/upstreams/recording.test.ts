import assert from 'node:assert/strict';
import test from 'node:test';
import { formatRecording } from '../../src/upstreams/recording.ts';

const reply = { status: 200, headers: {}, bodyText: '[]', sentAtMs: 0 };

test('a recording holds request, status, headers and body', () => {
  const url = new URL('https://town.example/api/v1/timelines/home?limit=40');
  const headers = { 'content-type': 'application/json', date: 'Fri, 20 Nov 2026 12:00:00 GMT' };
  assert.deepEqual(JSON.parse(formatRecording({ url }, { ...reply, headers, bodyText: '[{"id":"1"}]' })), {
    request: { method: 'GET', path: '/api/v1/timelines/home?limit=40', auth: 'none' },
    status: 200,
    headers,
    body: [{ id: '1' }],
  });
});

test('tokens, cookies and authorization are left out, wherever they stand', () => {
  const url = new URL('https://town.example/a?access_token=tok3n&Token=other&max_id=5');
  const headers = {
    'set-cookie': 'session=abc',
    authorization: 'Bearer tok3n',
    'www-authenticate': 'Bearer realm="abc"',
    'x-echo': 'you sent tok3n',
  };
  const text = formatRecording({ url, token: 'tok3n' }, { ...reply, headers, bodyText: '{"echo":"tok3n"}' });
  assert.doesNotMatch(text, /tok3n|other|session|realm/);
  assert.equal(JSON.parse(text).request.path, '/a?access_token=REDACTED&Token=REDACTED&max_id=5');
  assert.equal(JSON.parse(text).request.auth, 'token');
});

test('large numbers stay exact', () => {
  const url = new URL('https://api.twitter.com/1.1/a');
  assert.match(
    formatRecording({ url }, { ...reply, bodyText: '[{"id": 1600603975363006470}]' }),
    /1600603975363006470\}/,
  );
});

test('a body that is not JSON is kept as text, and headers that were true of its packed form are not', () => {
  const url = new URL('https://town.example/a');
  const headers = { 'content-encoding': 'gzip', 'content-length': '7', 'transfer-encoding': 'chunked' };
  const recording = JSON.parse(formatRecording({ url }, { ...reply, headers, bodyText: '<p>"x"</p>' }));
  assert.deepEqual([recording.body, recording.headers], ['<p>"x"</p>', {}]);
});
