import { z } from 'zod';
import { isPlain, listenHost, section, text, whole } from './rules.ts';

const FORM =
  "required 'sqlite:FILE', 'sqlite::memory:', 'redis://HOST:PORT', 'rediss://…', { kind: 'redis' | 'sentinel' | 'cluster', … } or { feeds, timelines }";

const URL_FORM = "required 'redis://[USER:PASSWORD@]HOST[:PORT][/DB]', or 'rediss://…' for TLS, without a query";

const isRedisUrl = (value: string) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isDb = url !== undefined && /^\/?(\d{1,4})?$/.test(url.pathname) && url.search === '' && url.hash === '';
  return isDb && /^rediss?:$/.test(url.protocol) && url.hostname !== '' && value.isWellFormed() && !/\s/.test(value);
};

const redisUrl = text(URL_FORM, isRedisUrl);

const PREFIX_RULE = "required 1 to 64 letters, digits, '_', '.', ':' or '-'";

const keyPrefix = text(PREFIX_RULE, (value) => /^[\w.:-]{1,64}$/.test(value))
  .optional()
  .describe('Begins all keys, so that several deployments may share one Redis.');

const node = section({ host: listenHost, port: whole(1, 65_535) });

const nodes = z
  .array(node, { error: 'required a list of { host, port }' })
  .min(1, { error: 'required at least one { host, port }' })
  .max(100);

const word = (what: string) => text(`required ${what} of 1 to 1024 characters`, (value) => isPlain(value, 1024));

const login = {
  username: word('a user name').optional(),
  password: word('a password').optional(),
  tls: z.boolean().default(false),
  keyPrefix,
};

const redis = z.discriminatedUnion(
  'kind',
  [
    section({ kind: z.literal('redis'), url: redisUrl, keyPrefix }),
    section({
      kind: z.literal('sentinel'),
      name: word('the name of the primary').describe('As the sentinels know it.'),
      sentinels: nodes,
      sentinelUsername: word('a user name').optional(),
      sentinelPassword: word('a password').optional(),
      db: whole(0, 9999).default(0),
      ...login,
    }),
    section({ kind: z.literal('cluster'), nodes: nodes.describe('Any of its nodes: they name the others.'), ...login }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? "required 'redis', 'sentinel' or 'cluster'" : undefined) },
);

const oneRedis = z.union([redisUrl, redis]);
const apart = section({
  feeds: oneRedis.describe('Feed instances, which may be evicted.'),
  timelines: oneRedis.describe('Everything else, which must not be.'),
});
const sqlite = text(FORM, (value) => /^sqlite:[^\0]+$/.test(value));

/** Where things are kept. */
export const storeSchema = z.union([sqlite, redisUrl, apart, redis], {
  error: ({ input }) => (typeof input === 'string' && /^rediss?:/.test(input) ? URL_FORM : FORM),
});

export type StoreSettings = z.output<typeof storeSchema>;
