import { z } from 'zod';
import { baseUrl, listenHost, origin, peer, section, text, userId, whole } from './rules.ts';
import { sourceSchema } from './source-schema.ts';
import { storeSchema } from './store-schema.ts';

const MAX_SOURCES = 10_000;
const DAY_MS = 86_400_000;

const sources = z
  .record(
    z
      .string()
      .regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/, 'required a letter, then at most 63 letters, digits, - or _, as a key'),
    sourceSchema,
  )
  .refine((all) => Object.keys(all).length >= 1, { error: 'required at least one source' })
  .refine((all) => Object.keys(all).length <= MAX_SOURCES, { error: `required at most ${MAX_SOURCES} sources` });

const server = section({
  port: whole(0, 65_535).default(4000).describe('0 takes any free port. PORT overrides it.'),
  host: listenHost.default('127.0.0.1').describe('HOST overrides it.'),
  hosts: z
    .array(listenHost)
    .max(1000)
    .default([])
    .describe('Names in the Host header that it answers to, besides loopback names, addresses and host.'),
  cors: z.array(origin).max(1000).optional().describe('Origins whose pages may ask; an empty list: none.'),
  graphiql: z.boolean().default(true),
});

const auth = z.discriminatedUnion(
  'kind',
  [
    section({ kind: z.literal('none'), userId: userId.default('demo').describe('Who everybody is.') }),
    section({
      kind: z.literal('header'),
      name: z
        .string({ error: 'required a header name' })
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'required a header name'),
      trustedPeers: z
        .array(peer)
        .min(1, { error: 'required at least one IP address or CIDR range' })
        .max(1000)
        .describe('The addresses whose header is believed.'),
    }),
  ],
  {
    error: ({ code, input }) => {
      if (code !== 'invalid_union') return;
      const later = isObject(input) && input.kind === 'jwt';
      return later ? "jwt comes with a later release; this one has 'none' and 'header'" : "required 'none' or 'header'";
    },
  },
);

const KEY_RULE = 'required a key of 32 to 1024 characters, such as openssl rand -base64 32 gives';

const tokens = section({
  keys: z
    .array(z.string({ error: KEY_RULE }).min(32, { error: KEY_RULE }).max(1024, { error: KEY_RULE }))
    .max(16)
    .refine((keys) => new Set(keys).size === keys.length, { error: 'required different keys' })
    .default([])
    .describe('The first signs, all verify. Used as the bytes of their UTF-8. None: made once and kept in the store.'),
});

const ids = section({
  enabled: z.boolean().default(false).describe('Whether nextIds issues Snowflake ids.'),
});

const OPERATOR_RULE = 'required a token of 16 to 1024 visible ASCII characters';

const operator = section({
  token: text(OPERATOR_RULE, (value) => /^[\x21-\x7e]{16,1024}$/.test(value))
    .optional()
    .describe('Opens GET /metrics and POST /purge to whoever sends it as a bearer token. None: they are not there.'),
});

const HEADER_RULE = 'required a header value of at most 8192 characters on one line';

const recommender = z.discriminatedUnion('kind', [
  section({ kind: z.literal('local') }),
  section({
    kind: z.literal('http'),
    url: baseUrl,
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'required a header name as a key'),
        z.string({ error: HEADER_RULE }).regex(/^[\x20-\x7e]{0,8192}$/, HEADER_RULE),
      )
      .default({}),
    timeoutMs: whole(10, 60_000).default(2000),
  }),
]);

const forYou = section({
  size: whole(1, 2000).default(500).describe('The most posts of one instance.'),
  instanceTtlSeconds: whole(10, 604_800).default(3600).describe('How long an instance lives after it was last read.'),
  currentTtlSeconds: whole(1, 604_800).default(600).describe('How long a first page shows the same instance.'),
  whenGone: z
    .enum(['continue', 'empty'])
    .default('continue')
    .describe('What page N answers when its instance is gone.'),
  recommender: recommender.prefault({ kind: 'local' }),
}).superRefine(({ currentTtlSeconds, instanceTtlSeconds }, context) => {
  if (currentTtlSeconds <= instanceTtlSeconds) return;
  const message = `required at most instanceTtlSeconds (${instanceTtlSeconds})`;
  context.addIssue({ code: 'custom', path: ['currentTtlSeconds'], message });
});

const timeline = section({
  keepHours: whole(1, 87_600).default(168),
  keepEntries: whole(100, 10_000_000).default(100_000).describe('For each source.'),
  keepMegabytes: whole(1, 1_000_000).default(1024).describe('Of posts, for each source.'),
});

const polling = section({
  minIntervalMs: whole(10, DAY_MS).default(5000).describe('Twitter: at least 60000 unless the source has its own.'),
  idleIntervalMs: whole(10, DAY_MS).default(60_000).describe('A source that nobody asks for is polled this often.'),
  sweepIntervalMs: whole(100, DAY_MS).default(300_000),
  // A stop gives the requests under way 5 s.
  maxWaitMs: whole(0, 4_000).default(1500).describe('How long a query waits for a poll at most.'),
});

/** A settings file as it may be written: strict, with every default. */
export const configSchema = section({
  $schema: z.string().optional(),
  sources: sources.describe('The key names the source.'),
  store: storeSchema.default('sqlite:sluice.db'),
  server: server.prefault({}),
  auth: auth.prefault({ kind: 'none' }),
  tokens: tokens.prefault({}),
  forYou: forYou.prefault({}),
  timeline: timeline.prefault({}),
  polling: polling.prefault({}),
  ids: ids.prefault({}),
  operator: operator.prefault({}),
});

function isObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null;
}
