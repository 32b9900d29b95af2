import { parseBoundedJson } from '../input/bounded-json.ts';
import type { HttpReply, HttpRequest } from './http.ts';

/** Headers that are secrets, or untrue of a body that is unpacked. */
const LEFT_OUT = new Set([
  ...[
    'authorization',
    'proxy-authorization',
    'www-authenticate',
    'cookie',
    'set-cookie',
    'set-cookie2',
    'x-csrf-token',
  ],
  ...['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
]);

const SECRET_PARAMETERS = /^(access_token|bearer_token|oauth_token|token|client_secret|api_key|key|secret|password)$/i;

/**
 * A reply as the text of a recording: `{request, status, headers, body}` as JSON, without tokens, cookies and
 * authorization. `body` is the reply's JSON character for character, so that large numbers stay exact; else its text.
 */
export function formatRecording(request: Pick<HttpRequest, 'url' | 'token'>, reply: HttpReply): string {
  const { token } = request;
  const path = cleanPath(request.url);
  const auth = token === undefined ? 'none' : 'token';
  const headers = Object.fromEntries(Object.entries(reply.headers).filter(([name]) => !LEFT_OUT.has(name)));
  const body = 'value' in parseBoundedJson(reply.bodyText) ? reply.bodyText.trim() : JSON.stringify(reply.bodyText);
  const recording = [
    `{"request": ${JSON.stringify({ method: 'GET', path, auth })}`,
    `"status": ${reply.status}`,
    `"headers": ${JSON.stringify(headers)}`,
    `"body": ${body}}\n`,
  ].join(',\n');
  return token ? recording.replaceAll(token, 'REDACTED') : recording;
}

function cleanPath(url: URL): string {
  const clean = new URL(url);
  for (const name of new Set(clean.searchParams.keys())) {
    if (SECRET_PARAMETERS.test(name)) clean.searchParams.set(name, 'REDACTED');
  }
  return clean.pathname + clean.search;
}
