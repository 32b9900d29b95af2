import type { ServerResponse } from 'node:http';

/**
 * Ends a response once its body has left, or its client. Node takes a connection for idle as soon as its response is
 * ended, even while a slow client has yet to read it: a server that stops would cut the answer off.
 */
export async function endWhenSent(response: ServerResponse, body: string | Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(body, () => resolve());
  });
  response.end();
}
