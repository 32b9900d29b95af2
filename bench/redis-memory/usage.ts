import type { Redis } from 'ioredis';

/** Keys of one kind whose bytes are looked at; the rest count with their mean. */
const SAMPLE = 300;

export const KINDS = ['instance', 'current', 'reference'] as const;
export type Kind = (typeof KINDS)[number];

/** What a Redis holds now. */
export interface Usage {
  /** By kind: how many keys, and their bytes by `MEMORY USAGE … SAMPLES 0`. */
  readonly keys: Readonly<Record<Kind, { readonly count: number; readonly bytes: number }>>;
  /** used_memory: with the tables of the key space, the clients' buffers and what an empty server takes. */
  readonly usedBytes: number;
}

/** @see https://redis.io/docs/latest/commands/memory-usage/ */
export async function usageOf(client: Redis): Promise<Usage> {
  const names = Map.groupBy(await keysOf(client), kindOf);
  const keys = await Promise.all(
    KINDS.map(async (kind) => [kind, await bytesOf(client, names.get(kind) ?? [])] as const),
  );
  return { keys: Object.fromEntries(keys) as Usage['keys'], usedBytes: await usedBytes(client) };
}

/** Bytes of all that is kept of viewers: instances, and `current`. */
export function viewerBytes({ keys }: Usage): number {
  return keys.instance.bytes + keys.current.bytes;
}

/** What viewers' keys take of used_memory, without what is there when the keys are gone. */
export function viewerUsedBytes(usage: Usage): number {
  const { keys, usedBytes } = usage;
  const count = KINDS.reduce((sum, kind) => sum + keys[kind].count, 0);
  const tables = usedBytes - viewerBytes(usage) - keys.reference.bytes;
  return viewerBytes(usage) + (tables * (count - keys.reference.count)) / count;
}

async function keysOf(client: Redis): Promise<readonly string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, some] = await client.scan(cursor, 'COUNT', 2000);
    for (const key of some) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...found];
}

function kindOf(key: string): Kind {
  if (key.startsWith('post:')) return 'reference';
  return key.endsWith(':current') ? 'current' : 'instance';
}

async function bytesOf(client: Redis, names: readonly string[]) {
  const step = Math.max(1, names.length / SAMPLE);
  const sample = Array.from({ length: Math.min(SAMPLE, names.length) }, (_, n) => names[Math.floor(n * step)] ?? '');
  const replies = await Promise.all(sample.map((name) => client.memory('USAGE', name, 'SAMPLES', 0)));
  // What has expired meanwhile is not there any more.
  const sizes = replies.filter((size) => size !== null);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length);
  return { count: names.length, bytes: names.length * mean };
}

async function usedBytes(client: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1] ?? Number.NaN);
}
