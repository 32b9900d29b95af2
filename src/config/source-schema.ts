import { z } from 'zod';
import {
  baseUrl,
  identityHost,
  isLoopback,
  isPlain,
  parseBaseUrl,
  section,
  text,
  token,
  upstreamName,
  userId,
  whole,
} from './rules.ts';

const DAY_MS = 86_400_000;

const AUDIENCE_RULE = "required 'anyone', 'signed-in' or a list of 1 to 10000 different user ids";

const users = z
  .array(userId)
  .min(1, { error: AUDIENCE_RULE })
  .max(10_000, { error: AUDIENCE_RULE })
  .refine((ids) => new Set(ids).size === ids.length, { error: AUDIENCE_RULE });

const common = {
  token: token.optional().describe('Sent as a bearer token to the origin of url alone.'),
  host: identityHost.optional().describe("The network's identity, the part of a post id after @."),
  audience: z
    .union([z.enum(['anyone', 'signed-in']), users], { error: AUDIENCE_RULE })
    .optional()
    .describe('Who may see what this source brings. Required for home, list and mentions.'),
  minIntervalMs: whole(10, DAY_MS).optional().describe('At least this long between two polls.'),
  overlapMs: whole(1000, DAY_MS)
    .optional()
    .describe('How far since_id goes back below the newest id, in ms of id time.'),
  overlap: z.enum(['latest', 'retrieved-at']).default('latest'),
  pollWhen: z.enum(['always', 'asked']).default('always').describe("'asked' is for upstreams that bill."),
  maxPostsPerDay: whole(1, 1_000_000_000)
    .optional()
    .describe('Not more posts are read in a day (UTC), for upstreams that bill them. Rescans stop at half of it.'),
  deadlineMs: whole(100, 120_000).default(10_000).describe('For one request as a whole.'),
  allowInsecure: z.boolean().default(false).describe('Allows http: to another machine.'),
};

const mastodonTimeline = z.discriminatedUnion('type', [
  section({ type: z.literal('home') }),
  section({ type: z.literal('public'), only: z.enum(['local', 'remote']).optional() }),
  section({
    type: z.literal('tag'),
    tag: upstreamName('a tag without #').regex(/^[^#\s/]+$/, 'required a tag without #'),
  }),
  section({ type: z.literal('list'), id: upstreamName('a list id') }),
  section({ type: z.literal('account'), id: upstreamName('an account id') }),
]);

const digits = (what: string) =>
  z.string({ error: `required ${what} in digits` }).regex(/^[0-9]{1,20}$/, `required ${what} in digits`);

const twitterTimeline = z.discriminatedUnion('type', [
  section({ type: z.literal('home'), userId: digits('a user id') }),
  section({ type: z.literal('user'), userId: digits('a user id') }),
  section({ type: z.literal('list'), id: digits('a list id') }),
  section({ type: z.literal('mentions'), userId: digits('a user id') }),
  section({
    type: z.literal('search'),
    query: text('required a query of 1 to 4096 characters', (value) => value.trim() !== '' && isPlain(value, 4096)),
  }),
]);

const mastodon = section({
  kind: z.literal('mastodon'),
  url: baseUrl.describe("The server's URL, such as https://town.example."),
  timeline: mastodonTimeline,
  idScheme: z
    .enum(['mastodon', 'pixelfed', 'takahe', 'flake', 'ulid', 'uuidv7', 'opaque'])
    .optional()
    .describe('Wins over what the server says about itself.'),
  ...common,
});

const twitter = section({
  kind: z.literal('twitter'),
  api: z.enum(['2', '1.1']).default('2'),
  url: baseUrl.optional().describe("Twitter's own where left out."),
  timeline: twitterTimeline,
  ...common,
});

/** A source of the right shape, before the defaults that depend on its kind. */
export type CheckedSource = z.output<typeof mastodon> | z.output<typeof twitter>;

/** One source as it may be written, with what depends on two of its keys. */
export const sourceSchema = z.discriminatedUnion('kind', [
  mastodon.superRefine(checkTogether),
  twitter.superRefine(checkTogether),
]);

/** Home, list and mentions show what one account may see. */
export function isPersonal(timelineType: string): boolean {
  return timelineType === 'home' || timelineType === 'list' || timelineType === 'mentions';
}

function checkTogether(source: CheckedSource, context: z.RefinementCtx): void {
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  const { type } = source.timeline;
  const url = source.url === undefined ? undefined : parseBaseUrl(source.url);
  if (url?.protocol === 'http:' && !isLoopback(url.hostname) && !source.allowInsecure) {
    refuse(['url'], 'required https: (http: is for loopback alone, or needs allowInsecure: true)');
  }
  if (source.kind === 'twitter' && source.api === '1.1' && type === 'search') {
    refuse(['timeline', 'type'], "required 'home', 'user', 'list' or 'mentions' with api '1.1'");
  }
  if (source.token === undefined && (source.kind === 'twitter' || isPersonal(type))) {
    refuse(['token'], `required a token for ${source.kind === 'twitter' ? 'Twitter' : `a ${type} timeline`}`);
  }
  if (source.audience === undefined && isPersonal(type)) {
    refuse(['audience'], `required for a ${type} timeline: 'anyone', 'signed-in' or a list of user ids`);
  }
}
