import { connect, type Socket } from 'node:net';

/** What is sent, and as whom. */
export interface Ask {
  readonly body: string;
  readonly userId: string;
}

/** Where `total` requests go, so many of them at once. */
export interface Load {
  readonly url: string;
  readonly asks: readonly Ask[];
  readonly connections: number;
  readonly total: number;
}

/**
 * Sends requests that take turns among `asks`, one at a time on each connection; resolves with the ms of each. Replies must
 * tell their content-length. By bare sockets: a client of node:http would take as long as the fastest of the servers.
 */
export async function sendAll({ url, asks, connections, total }: Load): Promise<readonly number[]> {
  const sent = asks.map(({ body, userId }) =>
    Buffer.from(
      `POST /graphql HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-user-id: ${userId}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  );
  const times: number[] = [];
  let started = 0;
  const work = async () => {
    const socket = await open(url);
    while (started < total) {
      const request = sent[started % sent.length] ?? Buffer.alloc(0);
      started += 1;
      const fromMs = performance.now();
      socket.write(request);
      await readReply(socket);
      times.push(performance.now() - fromMs);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return times;
}

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });
}

const HEAD_END = '\r\n\r\n';

function readReply(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let wanted = Number.POSITIVE_INFINITY;
    let got = 0;
    const settle = (error?: Error) => {
      socket.removeAllListeners();
      if (error) reject(error);
      else resolve();
    };
    socket.on('data', (piece: Buffer) => {
      if (got === 0) {
        const head = piece.toString('latin1', 0, piece.indexOf(HEAD_END));
        const length = /content-length: (\d+)/i.exec(head)?.[1];
        if (!head.startsWith('HTTP/1.1 200') || length === undefined) {
          return settle(new Error(`not understood: ${piece.toString()}`));
        }
        wanted = head.length + HEAD_END.length + Number(length);
      }
      got += piece.length;
      if (got >= wanted) settle();
    });
    socket.once('error', settle);
    socket.once('close', () => settle(new Error('the server closed the connection')));
  });
}
