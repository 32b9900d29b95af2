import { createRandom } from '../../experiment/random.ts';
import { encodeInstance } from '../../src/stores/instance-codec.ts';
import { startRedis } from '../../test/redis-server.ts';
import { ourKeeper } from './keepers.ts';
import type { Pool } from './pool.ts';
import { usageOf, viewerBytes, viewerUsedBytes } from './usage.ts';

const VIEWERS = 500;

/** What one viewer with one instance of 500 items takes, in bytes. */
export interface InstanceBytes {
  readonly instance: number;
  readonly current: number;
  /** These two: every key that is written for an instance. */
  readonly all: number;
  /** `all` by used_memory. */
  readonly used: number;
  /** A post's, which all instances share. */
  readonly reference: number;
}

/** Publishes an instance for each of 500 viewers as a first page does, and asks `MEMORY USAGE … SAMPLES 0` of every key. */
export async function instanceBytes(pool: Pool): Promise<InstanceBytes> {
  const server = await startRedis();
  try {
    const keeper = await ourKeeper({ url: server.url, pool, factor: 1 });
    for (let n = 0; n < VIEWERS; n += 1) await keeper.first(`u${123_456 + n}`, 0);
    const usage = await usageOf(server.client);
    await server.client.flushall('SYNC');
    const { usedBytes: without } = await usageOf(server.client);
    const { instance, current, reference } = usage.keys;
    await keeper.close();
    if (instance.count !== VIEWERS || current.count !== VIEWERS) throw new Error('each viewer has two keys');
    return {
      instance: instance.bytes / VIEWERS,
      current: current.bytes / VIEWERS,
      all: viewerBytes(usage) / VIEWERS,
      used: viewerUsedBytes({ ...usage, usedBytes: usage.usedBytes - without }) / VIEWERS,
      reference: reference.bytes / reference.count,
    };
  } finally {
    await server.stop();
  }
}

/** Of one instance with 500 distinct reasons of so many characters, by MEMORY USAGE of its key. */
export interface ReasonBytes {
  readonly text: string;
  readonly bytes: number;
}

const WORDS =
  `because you read liked followed saved shared the a story post article photo about of from by and with this that week
  month today yesterday morning city garden train bicycle bread coffee music concert river mountain weather election history
  science planet ocean football chess painting museum language recipe camera winter summer market harbour bridge school`.split(
    /\s+/,
  );

/** Words as a recommender's texts have them, and characters at random, which nothing makes smaller. */
export async function reasonBytes(): Promise<readonly ReasonBytes[]> {
  const random = createRandom(1);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? '';
  const ofWords = (length: number) => {
    let text = pick(WORDS);
    while (text.length < length) text += ` ${pick(WORDS)}`;
    return text.slice(0, length);
  };
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
  const atRandom = (length: number) => Array.from({ length }, () => pick(letters)).join('');
  const server = await startRedis();
  try {
    const rows: ReasonBytes[] = [];
    for (const [name, make] of [
      ['words', ofWords],
      ['random characters', atRandom],
    ] as const) {
      for (const length of [40, 80]) {
        const items = Array.from({ length: 500 }, () => {
          const hash = Array.from({ length: 16 }, () => pick([...'0123456789abcdef'])).join('');
          return { hash, reason: { kind: 'SIMILAR' as const, text: make(length) } };
        });
        await server.client.set('instance', encodeInstance({ generatedAtMs: 0, items }));
        const bytes = (await server.client.memory('USAGE', 'instance', 'SAMPLES', 0)) ?? Number.NaN;
        rows.push({ text: `500 distinct reasons of ${length} characters, ${name}`, bytes });
      }
    }
    return rows;
  } finally {
    await server.stop();
  }
}
