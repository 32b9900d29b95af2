import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A script that Redis runs as one step. */
export interface RedisScript {
  readonly name: string;
  readonly source: string;
  /** By which Redis knows it once it was sent. */
  readonly sha1: string;
}

/** The scripts of `lua/`; what several share stands in front of them. */
export function redisScript(name: string, ...shared: readonly string[]): RedisScript {
  const source = [...shared, name]
    .map((each) => readFileSync(new URL(`./lua/${each}.lua`, import.meta.url), 'utf8'))
    .join('\n');
  return { name, source, sha1: createHash('sha1').update(source).digest('hex') };
}
