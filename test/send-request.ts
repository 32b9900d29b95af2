import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';

/** By node:http, which sends any header as it is; the answer's status, headers and text. */
export async function sendRequest(
  url: string,
  { method = 'POST', headers = {}, body }: { method?: string; headers?: OutgoingHttpHeaders; body?: string },
) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: NodeJS.Dict<string | string[]>;
    text: string;
  }>();
  const request = httpRequest(url, { method, headers, agent: false });
  request.once('error', reject);
  request.once('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.once('error', reject);
    response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
  });
  request.end(body);
  return promise;
}
