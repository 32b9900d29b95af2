import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Author as AuthorModel, Card as CardModel, Emoji as EmojiModel, Media as MediaModel, Mention as MentionModel, Poll as PollModel, Post as PostModel, PostCounts as PostCountsModel } from '../post.ts';
import type { InstanceHeader as InstanceHeaderModel } from '../stores/feed-store.ts';
import type { ForYouItem as ForYouItemModel, Lateness as LatenessModel, SnowflakeValue as SnowflakeValueModel, TimelineEntry as TimelineEntryModel, TimelineGap as TimelineGapModel, SignedIn as SignedInModel } from '../resolvers/models.ts';
import type { ForYouView as ForYouViewModel } from '../feed/for-you.ts';
import type { FeedCursor as FeedCursorModel } from '../ids/tokens.ts';
import type { Problem as ProblemModel } from '../errors.ts';
import type { RateLimit as RateLimitModel } from '../upstreams/upstream.ts';
import type { Reason as ReasonModel } from '../recommenders/recommender.ts';
import type { Source as SourceModel } from '../source.ts';
import type { LogCounts as LogCountsModel } from '../stores/timeline-store.ts';
import type { TimelineView as TimelineViewModel } from '../timeline/reader/read.ts';
import type { GraphQLContext } from '../context.ts';
export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** A point in time: UTC with exactly three decimals, such as `2026-11-20T21:52:00.123Z`. */
  DateTime: { input: string; output: string; }
};

/** An account of a remote network. */
export type Author = Node & {
  readonly __typename?: 'Author';
  /** Null when there is no picture. */
  readonly avatarUrl?: Maybe<Scalars['String']['output']>;
  /** True when the account says that it is automated. */
  readonly bot: Scalars['Boolean']['output'];
  /** Custom emojis that the name uses. */
  readonly emojis: ReadonlyArray<Emoji>;
  /** Without a leading `@`; with the host for an account of another server. */
  readonly handle: Scalars['String']['output'];
  /** `author:<upstream id>@<host>`. */
  readonly id: Scalars['ID']['output'];
  /** The display name; the handle when there is none. */
  readonly name: Scalars['String']['output'];
  /** The account's id on its network. */
  readonly upstreamId: Scalars['String']['output'];
  /** The account's page for people. Null when it has none. */
  readonly url?: Maybe<Scalars['String']['output']>;
};

/** The preview of a link. */
export type Card = {
  readonly __typename?: 'Card';
  /** Null when there is none. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /** Null when there is no picture. */
  readonly imageUrl?: Maybe<Scalars['String']['output']>;
  /** May be empty. */
  readonly title: Scalars['String']['output'];
  /** Where the link goes. */
  readonly url: Scalars['String']['output'];
};

/** A picture for a shortcode. */
export type Emoji = {
  readonly __typename?: 'Emoji';
  /** Without colons. */
  readonly shortcode: Scalars['String']['output'];
  /** The picture. */
  readonly url: Scalars['String']['output'];
};

/** One built feed of one viewer. It never changes: pages of one instance fit together. */
export type FeedInstance = Node & {
  readonly __typename?: 'FeedInstance';
  /** When it was built. */
  readonly generatedAt: Scalars['DateTime']['output'];
  /** `feed:` and the instance's id. */
  readonly id: Scalars['ID']['output'];
  /** How many items it holds, before anything is hidden. */
  readonly size: Scalars['Int']['output'];
};

/** Where a page of the ranked feed came from. May grow: have a default branch. */
export type FeedState =
  /** From a feed that was built before. */
  | 'CACHED'
  /** The cursor's feed is gone: from a successor that leaves out all that this scroll has served. */
  | 'CONTINUED'
  /** The cursor's feed is gone and the settings say not to go on: ask again without a cursor. */
  | 'EXPIRED'
  /** A feed was built for this page. */
  | 'GENERATED';

/** One story of the ranked feed. */
export type ForYouItem = {
  readonly __typename?: 'ForYouItem';
  /** Goes on after this item. Opaque, URL-safe, at most 4,096 characters; valid for this viewer alone. */
  readonly cursor: Scalars['String']['output'];
  /** The place in the scroll, from 0. Counts on over successors of an instance, and skips what was hidden. */
  readonly position: Scalars['Int']['output'];
  /** The story. */
  readonly post: Post;
  /** Why it is here. Null when the recommender does not say. */
  readonly reason?: Maybe<Reason>;
};

/** One page of the ranked feed, best first. */
export type ForYouPage = {
  readonly __typename?: 'ForYouPage';
  /** The feed instance that served this page. Null when there is none, such as on an EXPIRED page or while the store does not answer. */
  readonly feed?: Maybe<FeedInstance>;
  /** The stories of this page, best first. May be fewer than asked for; not empty while there is a next page. */
  readonly items: ReadonlyArray<ForYouItem>;
  /** How to go on. Null when this scroll cannot: at its end, or when `state` is EXPIRED. */
  readonly nextPage?: Maybe<NextPage>;
  /** What went wrong beside this page. Empty when nothing did. */
  readonly problems: ReadonlyArray<Problem>;
  /** Where the page came from. */
  readonly state: FeedState;
};

/** How a gap came about. May grow: have a default branch. */
export type GapReason =
  /** The upstream does not keep its timeline that far back. */
  | 'FEED_TRUNCATED'
  /** This gateway has dropped entries of that age, as its settings say. */
  | 'LOG_TRIMMED'
  /** There was more to read than one poll reads. */
  | 'PAGE_CAP'
  /** The upstream said that its reply was not whole. */
  | 'PARTIAL'
  /** The upstream's rate limit did not allow to read on. */
  | 'RATE_LIMITED'
  /** The upstream failed on the way. */
  | 'UPSTREAM_ERROR';

/** How late posts show up: milliseconds of id time below the newest id known when a late post was first seen. */
export type Lateness = {
  readonly __typename?: 'Lateness';
  /** The latest of them, in ms. Null without samples. */
  readonly maxMs?: Maybe<Scalars['Int']['output']>;
  /** Half of them were at most this late, in ms, rounded up by at most a fifth. Null without samples. */
  readonly p50Ms?: Maybe<Scalars['Int']['output']>;
  /** 99 in 100 of them were at most this late, in ms, rounded up by at most a fifth. Null without samples. */
  readonly p99Ms?: Maybe<Scalars['Int']['output']>;
  /** How many late posts the figures were learnt from. Older ones count less and less. */
  readonly samples: Scalars['Int']['output'];
};

/** A picture, video or sound of a post. */
export type Media = {
  readonly __typename?: 'Media';
  /** Its description in words. Null when the author gave none. */
  readonly alt?: Maybe<Scalars['String']['output']>;
  /** A placeholder to paint while loading, see https://blurha.sh. Null when there is none. */
  readonly blurhash?: Maybe<Scalars['String']['output']>;
  /** Milliseconds. Null when it does not play, or when not known. */
  readonly durationMs?: Maybe<Scalars['Int']['output']>;
  /** Pixels. Null when not known. */
  readonly height?: Maybe<Scalars['Int']['output']>;
  /** What it is. */
  readonly kind: MediaKind;
  /** A small picture of it. Null when there is none. */
  readonly previewUrl?: Maybe<Scalars['String']['output']>;
  /** The file. */
  readonly url: Scalars['String']['output'];
  /** Pixels. Null when not known. */
  readonly width?: Maybe<Scalars['Int']['output']>;
};

/** Kinds of media. May grow: have a default branch. */
export type MediaKind =
  /** Sound alone. */
  | 'AUDIO'
  /** A short loop without sound. */
  | 'GIF'
  /** A still picture. */
  | 'IMAGE'
  /** Anything else: show a link. */
  | 'OTHER'
  /** A video with sound. */
  | 'VIDEO';

/** An account that a post mentions. */
export type Mention = {
  readonly __typename?: 'Mention';
  /** Id of an Author. Null when the upstream does not tell. */
  readonly authorId?: Maybe<Scalars['ID']['output']>;
  /** Without a leading `@`; with the host for an account of another server. */
  readonly handle: Scalars['String']['output'];
  /** The account's page for people. Null when it has none. */
  readonly url?: Maybe<Scalars['String']['output']>;
};

/** What can be changed. */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Issues Snowflake ids (41 bits of ms since 2021, 8 of generator, 14 of sequence) that no gateway of this deployment issues again, as decimals: ascending, and above all before from the same gateway; over all gateways they are sorted to within seconds. For who is signed in. `snowflake(layout: CECOCHAT)` takes them apart. Errors: IDS_UNAVAILABLE while no generator can be leased, RATE_LIMITED for more than 163,840 ids a second, both with `retryAt`. */
  readonly nextIds: ReadonlyArray<Scalars['String']['output']>;
  /** Makes a new feed instance the viewer's current one and answers its first page. Calls of one viewer within 5 seconds share one. Cursors of older instances stay valid. Null with an error only. */
  readonly refreshForYou?: Maybe<ForYouPage>;
};


/** What can be changed. */
export type MutationNextIdsArgs = {
  count?: Scalars['Int']['input'];
};


/** What can be changed. */
export type MutationRefreshForYouArgs = {
  limit?: InputMaybe<Scalars['Int']['input']>;
};

/** How to ask for the next page. */
export type NextPage = {
  readonly __typename?: 'NextPage';
  /** Give it to `forYou(cursor:)`. Opaque, URL-safe, at most 4,096 characters; valid for this viewer alone. */
  readonly cursor: Scalars['String']['output'];
};

/** Anything that has an id of its own. Ids are unique over all types; treat them as opaque. */
export type Node = {
  /** Unique over all types. A post's is `<upstream id>@<host>`; all others begin with their kind, such as `source:town`. */
  readonly id: Scalars['ID']['output'];
};

/** A poll, as last seen. */
export type Poll = {
  readonly __typename?: 'Poll';
  /** True when it takes no more votes. */
  readonly closed: Scalars['Boolean']['output'];
  /** Null when it does not end, or when not known. */
  readonly endsAt?: Maybe<Scalars['DateTime']['output']>;
  /** True when more than one option may be chosen. */
  readonly multiple: Scalars['Boolean']['output'];
  /** In the author's order. */
  readonly options: ReadonlyArray<PollOption>;
  /** Votes over all options. Null when not known. */
  readonly votes?: Maybe<Scalars['Int']['output']>;
};

/** One option of a poll. */
export type PollOption = {
  readonly __typename?: 'PollOption';
  /** What can be chosen. */
  readonly text: Scalars['String']['output'];
  /** Null until the upstream tells. */
  readonly votes?: Maybe<Scalars['Int']['output']>;
};

/** A post of any network. */
export type Post = Node & {
  readonly __typename?: 'Post';
  /** Who wrote it, or reposted it. Null when the upstream does not tell. */
  readonly author?: Maybe<Author>;
  /** The preview of a link. Null when there is none. */
  readonly card?: Maybe<Card>;
  /** How often it was answered, reposted, liked and quoted, as last seen. */
  readonly counts: PostCounts;
  /** When it was posted, as the upstream says, else the time in its id, else its arrival. */
  readonly createdAt: Scalars['DateTime']['output'];
  /** When it was last edited. Null when it never was, or when the upstream does not tell. */
  readonly editedAt?: Maybe<Scalars['DateTime']['output']>;
  /** Custom emojis that its text uses. */
  readonly emojis: ReadonlyArray<Emoji>;
  /** Without `#`, in the order of the text. */
  readonly hashtags: ReadonlyArray<Scalars['String']['output']>;
  /** Sanitised HTML, safe to put on a page. Empty for a repost. */
  readonly html: Scalars['String']['output'];
  /** `<upstream id>@<host>`, the same over edits and on every gateway. */
  readonly id: Scalars['ID']['output'];
  /** The id of the post that it answers, which need not be known here. Null when it answers none. */
  readonly inReplyToId?: Maybe<Scalars['ID']['output']>;
  /** BCP 47, such as `en`. Null when the upstream does not tell. */
  readonly language?: Maybe<Scalars['String']['output']>;
  /** Pictures, videos and sounds, in the author's order. */
  readonly media: ReadonlyArray<Media>;
  /** Accounts that it mentions. */
  readonly mentions: ReadonlyArray<Mention>;
  /** The API that it came through: `mastodon` or `twitter`. May grow. */
  readonly network: Scalars['String']['output'];
  /** Null when it has no poll. */
  readonly poll?: Maybe<Poll>;
  /** The post that it quotes. Null when it quotes none, or when that is not to be seen. */
  readonly quoted?: Maybe<Post>;
  /** The post that it reposts. Null when it is no repost. */
  readonly repostOf?: Maybe<Post>;
  /** True when media should be hidden until asked for. */
  readonly sensitive: Scalars['Boolean']['output'];
  /** Its id taken apart. Null when the id is of another scheme, such as the plain numbers of before 2010. */
  readonly snowflake?: Maybe<Snowflake>;
  /** The warning to show before the text. Null when there is none. */
  readonly spoilerText?: Maybe<Scalars['String']['output']>;
  /** Plain text. Empty for a repost: show `repostOf`. */
  readonly text: Scalars['String']['output'];
  /** Its present id on its network; an edit may change it. */
  readonly upstreamId: Scalars['String']['output'];
  /** Names the post on all servers that have a copy. Null where the network has no such name. */
  readonly uri?: Maybe<Scalars['String']['output']>;
  /** Its page for people. Null when it has none. */
  readonly url?: Maybe<Scalars['String']['output']>;
  /** Who may see it on its network. */
  readonly visibility: Visibility;
};

/** Counts as last seen. Null where the upstream does not tell. */
export type PostCounts = {
  readonly __typename?: 'PostCounts';
  /** Likes. Null where the upstream does not tell. */
  readonly likes?: Maybe<Scalars['Int']['output']>;
  /** Quotes. Null where the upstream does not tell. */
  readonly quotes?: Maybe<Scalars['Int']['output']>;
  /** Answers. Null where the upstream does not tell. */
  readonly replies?: Maybe<Scalars['Int']['output']>;
  /** Reposts. Null where the upstream does not tell. */
  readonly reposts?: Maybe<Scalars['Int']['output']>;
};

/** Something that went wrong beside an answer. The answer is still good for what it holds. */
export type Problem = {
  readonly __typename?: 'Problem';
  /** What went wrong. */
  readonly code: ProblemCode;
  /** One line in English, without secrets. */
  readonly message: Scalars['String']['output'];
  /** When it is worth trying again. Null when that is not known. */
  readonly retryAt?: Maybe<Scalars['DateTime']['output']>;
  /** The source that it is about. Null when it is about none. */
  readonly source?: Maybe<Source>;
};

/** What went wrong. May grow: have a default branch. */
export type ProblemCode =
  /** The upstream does not allow it. */
  | 'FORBIDDEN'
  /** It is not there any more. */
  | 'GONE'
  /** The upstream's reply, or a post in it, could not be understood and was left out. */
  | 'MALFORMED'
  /** The source is not connected. */
  | 'NOT_CONNECTED'
  /** The upstream's rate limit, or what the settings allow a day, is used up until `retryAt`. */
  | 'RATE_LIMITED'
  /** The recommender did not answer usefully: an earlier feed or the built-in recommender serves. */
  | 'RECOMMENDER_UNAVAILABLE'
  /** The source did not answer in time: this is what was known before. */
  | 'STALE'
  /** The store did not answer: this page could not be kept. */
  | 'STORE_UNAVAILABLE'
  /** The upstream does not accept the source's token, or wants one. Nothing is asked with it until the settings change. */
  | 'UNAUTHORIZED'
  /** The upstream did not answer, or answered with an error of its own. */
  | 'UNAVAILABLE';

/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type Query = {
  readonly __typename?: 'Query';
  /** One page of the viewer's ranked feed. A story is never served twice in one scroll. Null with an error `UNAUTHENTICATED` when nobody is signed in. */
  readonly forYou?: Maybe<ForYouPage>;
  /** Anything by its id: a post, a source, an open gap, the viewer, or a live feed instance of the viewer. Null when there is none that the viewer may see. An author is read through a post: null. */
  readonly node?: Maybe<Node>;
  /** One post. Null when no source that the viewer may read has brought it, or when it is gone. */
  readonly post?: Maybe<Post>;
  /** Posts by their ids, in the order asked. Null for each that `post` would answer with null. */
  readonly posts: ReadonlyArray<Maybe<Post>>;
  /** Takes a Snowflake id apart. Plain arithmetic: it does not ask whether such an id was ever issued. Null with an error only. */
  readonly snowflake?: Maybe<Snowflake>;
  /** The configured sources that the viewer may read, in the order of the settings. */
  readonly sources: ReadonlyArray<Source>;
  /** Posts of the configured sources, merged. Without a token: the newest. With `since`: what came after it, the oldest of that first. With `until`: what lies before it. Null with an error only. */
  readonly timeline?: Maybe<TimelinePage>;
  /** Who asks. Null when nobody is signed in. */
  readonly viewer?: Maybe<Viewer>;
};


/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type QueryForYouArgs = {
  cursor?: InputMaybe<Scalars['String']['input']>;
  limit?: InputMaybe<Scalars['Int']['input']>;
};


/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type QueryPostArgs = {
  id: Scalars['ID']['input'];
};


/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type QueryPostsArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type QuerySnowflakeArgs = {
  layout: SnowflakeLayout;
  value: Scalars['String']['input'];
};


/** What can be asked. One failing field leaves the others served; every error has `extensions.code`. */
export type QueryTimelineArgs = {
  limit?: InputMaybe<Scalars['Int']['input']>;
  since?: InputMaybe<Scalars['String']['input']>;
  sources?: InputMaybe<ReadonlyArray<Scalars['ID']['input']>>;
  until?: InputMaybe<Scalars['String']['input']>;
};

/** What an upstream allows in its present window. */
export type RateLimit = {
  readonly __typename?: 'RateLimit';
  /** Requests in one window. */
  readonly limit: Scalars['Int']['output'];
  /** Requests left in this window. */
  readonly remaining: Scalars['Int']['output'];
  /** When the next window begins. */
  readonly resetAt: Scalars['DateTime']['output'];
};

/** Why a story is in the feed. */
export type Reason = {
  readonly __typename?: 'Reason';
  /** The kind of reason: translate by this. */
  readonly kind: ReasonKind;
  /** One line in English, at most 80 characters. */
  readonly text: Scalars['String']['output'];
};

/** Kinds of reasons. May grow: have a default branch. */
export type ReasonKind =
  /** To try something else. */
  | 'EXPLORE'
  /** By somebody whom the viewer follows. */
  | 'FOLLOWED_AUTHOR'
  /** Another reason: see `text`. */
  | 'OTHER'
  /** Much reposted, answered or liked. */
  | 'POPULAR'
  /** New. */
  | 'RECENT'
  /** Like something that the viewer read. */
  | 'SIMILAR'
  /** About a topic of the viewer. */
  | 'TOPIC';

/** A Snowflake id taken apart. */
export type Snowflake = {
  readonly __typename?: 'Snowflake';
  /** Which machine made it. Null for MASTODON, which has none. */
  readonly generator?: Maybe<Scalars['Int']['output']>;
  /** The layout by which it was taken apart. */
  readonly layout: SnowflakeLayout;
  /** The sequence number within one millisecond; for MASTODON the low 16 bits. */
  readonly sequence: Scalars['Int']['output'];
  /** When it was made. */
  readonly time: Scalars['DateTime']['output'];
  /** The id in decimal digits: a string, since it passes 2^53. */
  readonly value: Scalars['String']['output'];
};

/** Bit layouts of Snowflake ids. May grow: have a default branch. */
export type SnowflakeLayout =
  /** 41 bits of ms since 2021-01-01T00:00:00Z, 8 of generator, 14 of sequence. */
  | 'CECOCHAT'
  /** 48 bits of ms since 1970, 16 of sequence. No generator. */
  | 'MASTODON'
  /** 41 bits of ms since 1288834974657, 10 of machine, 12 of sequence. */
  | 'TWITTER';

/** One configured timeline of one remote network, and how it fares. While the store does not answer its state is FAILING and its figures are those last known to this gateway. */
export type Source = Node & {
  readonly __typename?: 'Source';
  /** What this gateway has counted since the source's log began. */
  readonly counts: SourceCounts;
  /** `source:` and the settings key. */
  readonly id: Scalars['ID']['output'];
  /** When it was last asked. Null before the first time. */
  readonly lastPolledAt?: Maybe<Scalars['DateTime']['output']>;
  /** How late posts show up here. */
  readonly lateness: Lateness;
  /** The API that it speaks: `mastodon` or `twitter`. May grow. */
  readonly network: Scalars['String']['output'];
  /** When it will be asked next, if nobody wants it sooner. Null when that is not planned. */
  readonly nextPollAt?: Maybe<Scalars['DateTime']['output']>;
  /** How far each poll reaches back below the newest id, in milliseconds of id time, to find late posts. */
  readonly overlapMs: Scalars['Int']['output'];
  /** What the upstream last told about its rate limit. Null when it tells nothing. */
  readonly rateLimit?: Maybe<RateLimit>;
  /** What the server runs, with its version, such as `mastodon 4.3.1`. Null while it is not known. */
  readonly software?: Maybe<Scalars['String']['output']>;
  /** How it fares. */
  readonly state: SourceState;
  /** Which timeline, in words: `home`, `public (local)`, `tag #cats`. */
  readonly timeline: Scalars['String']['output'];
  /** The server that is asked. */
  readonly url: Scalars['String']['output'];
};

/** What was counted for a source since its log began. */
export type SourceCounts = {
  readonly __typename?: 'SourceCounts';
  /** Posts found by filling gaps and by rescans. */
  readonly backfilled: Scalars['Int']['output'];
  /** Posts that an upstream sent again and that were dropped. */
  readonly duplicatesDropped: Scalars['Int']['output'];
  /** Gaps that were opened. */
  readonly gaps: Scalars['Int']['output'];
  /** Late posts found by the overlap, which a plain since_id poller on the same schedule would have missed. */
  readonly leaksPrevented: Scalars['Int']['output'];
  /** Posts appended to the log. */
  readonly posts: Scalars['Int']['output'];
  /** Requests sent to the upstream for this timeline. */
  readonly requests: Scalars['Int']['output'];
};

/** How a source fares. May grow: have a default branch. */
export type SourceState =
  /** The last poll failed; it goes on trying. Or the store does not answer, or no poll came although one is long due. */
  | 'FAILING'
  /** The last poll was good. */
  | 'OK'
  /** It has not been read yet. */
  | 'STARTING'
  /** Its token was refused, twice: it is tried once an hour. Goes on after a start with another token in the settings. */
  | 'STOPPED'
  /** It waits for its rate limit, or for the next day where the settings bound the posts of one. */
  | 'WAITING';

/** A post's place in the timeline. */
export type TimelineEntry = {
  readonly __typename?: 'TimelineEntry';
  /** When this gateway first saw it. */
  readonly arrivedAt: Scalars['DateTime']['output'];
  /** Goes on from this entry. As `until`: the entries before it. As `since`: what arrived after it, or after its page when that was asked without `since`. Opaque, URL-safe, at most 4,096 characters. */
  readonly cursor: Scalars['String']['output'];
  /** `entry:`, the source's key and the post's id: the same on every page. */
  readonly id: Scalars['ID']['output'];
  /** True when it showed up only after posts with higher ids: a plain since_id poller would have missed it. */
  readonly late: Scalars['Boolean']['output'];
  /** The post in its present form. A repost has empty text: show its `repostOf`. */
  readonly post: Post;
  /** Where it belongs: the time in its id, or its arrival where the id has none. Never changes, never after `arrivedAt`. */
  readonly sortAt: Scalars['DateTime']['output'];
  /** The source that brought it. When several did, one of the post's own server, else the first one. */
  readonly source: Source;
};

/** A stretch of a source's timeline that may miss posts. */
export type TimelineGap = Node & {
  readonly __typename?: 'TimelineGap';
  /** True when nothing will fill it any more. */
  readonly final: Scalars['Boolean']['output'];
  /** Its older end. Null when it is open to the past. */
  readonly from?: Maybe<Scalars['DateTime']['output']>;
  /** `gap:` and the gap's id: the same while it is open. One of reason LOG_TRIMMED belongs to its cursor: `node` does not know it. */
  readonly id: Scalars['ID']['output'];
  /** How it came about. */
  readonly reason: GapReason;
  /** The source that it is in. */
  readonly source: Source;
  /** Its newer end. Null when it is open to the present. */
  readonly to?: Maybe<Scalars['DateTime']['output']>;
};

/** One page of the merged timeline, newest first. Keep `since` of the last page that has one, and ask with it for what is new. */
export type TimelinePage = {
  readonly __typename?: 'TimelinePage';
  /** Asking again is worth it from then on: a source may then be read anew. Null when more is waiting already (`hasNewer`), or when it is not known. */
  readonly askAgainAt?: Maybe<Scalars['DateTime']['output']>;
  /** Posts that this cursor was given before and that have changed, in their present form. Leave out those that you do not show: copies of others. Only on a page asked with `since`. */
  readonly edited: ReadonlyArray<Post>;
  /** The entries of this page, newest first: with `since` by arrival, otherwise by (`sortAt`, post id). Prepend in this order, or slot in by (`sortAt`, post id). */
  readonly entries: ReadonlyArray<TimelineEntry>;
  /** Gaps of the sources asked for, open and final; with `since` also what was trimmed before this cursor had passed it. Replace those that you have, unless the page was asked with `until`. */
  readonly gaps: ReadonlyArray<TimelineGap>;
  /** True when more is waiting after `since`: ask again at once. */
  readonly hasNewer: Scalars['Boolean']['output'];
  /** What went wrong at the last attempt to read each source. Empty when nothing did. */
  readonly problems: ReadonlyArray<Problem>;
  /** Ids of posts that this cursor was given before and that are gone, or that another entry takes the place of, which may be of a source that is left out now; also of copies that you may not have. Only on a page asked with `since`. */
  readonly removed: ReadonlyArray<Scalars['ID']['output']>;
  /** Ask with it for what is new. Null on a page asked with `until`: keep the one you have. Opaque, URL-safe, at most 4,096 characters. */
  readonly since?: Maybe<Scalars['String']['output']>;
  /** Ask with it for what is older. Null on a page asked with `since`, and when there is nothing older. Opaque, URL-safe, at most 4,096 characters. */
  readonly until?: Maybe<Scalars['String']['output']>;
};

/** Who asks. */
export type Viewer = Node & {
  readonly __typename?: 'Viewer';
  /** `viewer:` and the user id. */
  readonly id: Scalars['ID']['output'];
  /** The user id, as the sign-in in front of this gateway gives it. */
  readonly userId: Scalars['String']['output'];
};

/** Who may see a post on its network. May grow: have a default branch. */
export type Visibility =
  /** Those who are mentioned. */
  | 'DIRECT'
  /** The author's followers. */
  | 'FOLLOWERS'
  /** Everybody, and it is listed. */
  | 'PUBLIC'
  /** Everybody who has the link. */
  | 'UNLISTED';



export type ResolverTypeWrapper<T> = Promise<T> | T;


export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;




/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = {
  Node:
    | ( AuthorModel )
    | ( InstanceHeaderModel )
    | ( PostModel )
    | ( SourceModel )
    | ( TimelineGapModel )
    | ( SignedInModel )
  ;
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Author: ResolverTypeWrapper<AuthorModel>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Card: ResolverTypeWrapper<CardModel>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Emoji: ResolverTypeWrapper<EmojiModel>;
  FeedInstance: ResolverTypeWrapper<InstanceHeaderModel>;
  FeedState: FeedState;
  ForYouItem: ResolverTypeWrapper<ForYouItemModel>;
  ForYouPage: ResolverTypeWrapper<ForYouViewModel>;
  GapReason: GapReason;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Lateness: ResolverTypeWrapper<LatenessModel>;
  Media: ResolverTypeWrapper<MediaModel>;
  MediaKind: MediaKind;
  Mention: ResolverTypeWrapper<MentionModel>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  NextPage: ResolverTypeWrapper<FeedCursorModel>;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  Poll: ResolverTypeWrapper<PollModel>;
  PollOption: ResolverTypeWrapper<PollOption>;
  Post: ResolverTypeWrapper<PostModel>;
  PostCounts: ResolverTypeWrapper<PostCountsModel>;
  Problem: ResolverTypeWrapper<ProblemModel>;
  ProblemCode: ProblemCode;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RateLimit: ResolverTypeWrapper<RateLimitModel>;
  Reason: ResolverTypeWrapper<ReasonModel>;
  ReasonKind: ReasonKind;
  Snowflake: ResolverTypeWrapper<SnowflakeValueModel>;
  SnowflakeLayout: SnowflakeLayout;
  Source: ResolverTypeWrapper<SourceModel>;
  SourceCounts: ResolverTypeWrapper<LogCountsModel>;
  SourceState: SourceState;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  TimelineEntry: ResolverTypeWrapper<TimelineEntryModel>;
  TimelineGap: ResolverTypeWrapper<TimelineGapModel>;
  TimelinePage: ResolverTypeWrapper<TimelineViewModel>;
  Viewer: ResolverTypeWrapper<SignedInModel>;
  Visibility: Visibility;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Author: AuthorModel;
  Boolean: Scalars['Boolean']['output'];
  Card: CardModel;
  DateTime: Scalars['DateTime']['output'];
  Emoji: EmojiModel;
  FeedInstance: InstanceHeaderModel;
  ForYouItem: ForYouItemModel;
  ForYouPage: ForYouViewModel;
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  Lateness: LatenessModel;
  Media: MediaModel;
  Mention: MentionModel;
  Mutation: Record<PropertyKey, never>;
  NextPage: FeedCursorModel;
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  Poll: PollModel;
  PollOption: PollOption;
  Post: PostModel;
  PostCounts: PostCountsModel;
  Problem: ProblemModel;
  Query: Record<PropertyKey, never>;
  RateLimit: RateLimitModel;
  Reason: ReasonModel;
  Snowflake: SnowflakeValueModel;
  Source: SourceModel;
  SourceCounts: LogCountsModel;
  String: Scalars['String']['output'];
  TimelineEntry: TimelineEntryModel;
  TimelineGap: TimelineGapModel;
  TimelinePage: TimelineViewModel;
  Viewer: SignedInModel;
};

export type AuthorResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Author'] = ResolversParentTypes['Author']> = {
  avatarUrl?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  bot?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  emojis?: Resolver<ReadonlyArray<ResolversTypes['Emoji']>, ParentType, ContextType>;
  handle?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  upstreamId?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  url?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type CardResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Card'] = ResolversParentTypes['Card']> = {
  description?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  imageUrl?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  url?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type EmojiResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Emoji'] = ResolversParentTypes['Emoji']> = {
  shortcode?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  url?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type FeedInstanceResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['FeedInstance'] = ResolversParentTypes['FeedInstance']> = {
  generatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  size?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ForYouItemResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['ForYouItem'] = ResolversParentTypes['ForYouItem']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  position?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
  reason?: Resolver<Maybe<ResolversTypes['Reason']>, ParentType, ContextType>;
};

export type ForYouPageResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['ForYouPage'] = ResolversParentTypes['ForYouPage']> = {
  feed?: Resolver<Maybe<ResolversTypes['FeedInstance']>, ParentType, ContextType>;
  items?: Resolver<ReadonlyArray<ResolversTypes['ForYouItem']>, ParentType, ContextType>;
  nextPage?: Resolver<Maybe<ResolversTypes['NextPage']>, ParentType, ContextType>;
  problems?: Resolver<ReadonlyArray<ResolversTypes['Problem']>, ParentType, ContextType>;
  state?: Resolver<ResolversTypes['FeedState'], ParentType, ContextType>;
};

export type LatenessResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Lateness'] = ResolversParentTypes['Lateness']> = {
  maxMs?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  p50Ms?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  p99Ms?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  samples?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type MediaResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Media'] = ResolversParentTypes['Media']> = {
  alt?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  blurhash?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  durationMs?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  height?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['MediaKind'], ParentType, ContextType>;
  previewUrl?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  url?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  width?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type MentionResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Mention'] = ResolversParentTypes['Mention']> = {
  authorId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  handle?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  url?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type MutationResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  nextIds?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType, RequireFields<MutationNextIdsArgs, 'count'>>;
  refreshForYou?: Resolver<Maybe<ResolversTypes['ForYouPage']>, ParentType, ContextType, RequireFields<MutationRefreshForYouArgs, 'limit'>>;
};

export type NextPageResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['NextPage'] = ResolversParentTypes['NextPage']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type NodeResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'Author' | 'FeedInstance' | 'Post' | 'Source' | 'TimelineGap' | 'Viewer', ParentType, ContextType>;
};

export type PollResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Poll'] = ResolversParentTypes['Poll']> = {
  closed?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  endsAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  multiple?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  options?: Resolver<ReadonlyArray<ResolversTypes['PollOption']>, ParentType, ContextType>;
  votes?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type PollOptionResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['PollOption'] = ResolversParentTypes['PollOption']> = {
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  votes?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type PostResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Post'] = ResolversParentTypes['Post']> = {
  author?: Resolver<Maybe<ResolversTypes['Author']>, ParentType, ContextType>;
  card?: Resolver<Maybe<ResolversTypes['Card']>, ParentType, ContextType>;
  counts?: Resolver<ResolversTypes['PostCounts'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  editedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  emojis?: Resolver<ReadonlyArray<ResolversTypes['Emoji']>, ParentType, ContextType>;
  hashtags?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  html?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  inReplyToId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  language?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  media?: Resolver<ReadonlyArray<ResolversTypes['Media']>, ParentType, ContextType>;
  mentions?: Resolver<ReadonlyArray<ResolversTypes['Mention']>, ParentType, ContextType>;
  network?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  poll?: Resolver<Maybe<ResolversTypes['Poll']>, ParentType, ContextType>;
  quoted?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  repostOf?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType>;
  sensitive?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  snowflake?: Resolver<Maybe<ResolversTypes['Snowflake']>, ParentType, ContextType>;
  spoilerText?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  upstreamId?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  uri?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  url?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  visibility?: Resolver<ResolversTypes['Visibility'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type PostCountsResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['PostCounts'] = ResolversParentTypes['PostCounts']> = {
  likes?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  quotes?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  replies?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  reposts?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type ProblemResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Problem'] = ResolversParentTypes['Problem']> = {
  code?: Resolver<ResolversTypes['ProblemCode'], ParentType, ContextType>;
  message?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  retryAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['Source']>, ParentType, ContextType>;
};

export type QueryResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  forYou?: Resolver<Maybe<ResolversTypes['ForYouPage']>, ParentType, ContextType, RequireFields<QueryForYouArgs, 'limit'>>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  post?: Resolver<Maybe<ResolversTypes['Post']>, ParentType, ContextType, RequireFields<QueryPostArgs, 'id'>>;
  posts?: Resolver<ReadonlyArray<Maybe<ResolversTypes['Post']>>, ParentType, ContextType, RequireFields<QueryPostsArgs, 'ids'>>;
  snowflake?: Resolver<Maybe<ResolversTypes['Snowflake']>, ParentType, ContextType, RequireFields<QuerySnowflakeArgs, 'layout' | 'value'>>;
  sources?: Resolver<ReadonlyArray<ResolversTypes['Source']>, ParentType, ContextType>;
  timeline?: Resolver<Maybe<ResolversTypes['TimelinePage']>, ParentType, ContextType, RequireFields<QueryTimelineArgs, 'limit'>>;
  viewer?: Resolver<Maybe<ResolversTypes['Viewer']>, ParentType, ContextType>;
};

export type RateLimitResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['RateLimit'] = ResolversParentTypes['RateLimit']> = {
  limit?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  remaining?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  resetAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type ReasonResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Reason'] = ResolversParentTypes['Reason']> = {
  kind?: Resolver<ResolversTypes['ReasonKind'], ParentType, ContextType>;
  text?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type SnowflakeResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Snowflake'] = ResolversParentTypes['Snowflake']> = {
  generator?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  layout?: Resolver<ResolversTypes['SnowflakeLayout'], ParentType, ContextType>;
  sequence?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  time?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  value?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type SourceResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Source'] = ResolversParentTypes['Source']> = {
  counts?: Resolver<ResolversTypes['SourceCounts'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  lastPolledAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  lateness?: Resolver<ResolversTypes['Lateness'], ParentType, ContextType>;
  network?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  nextPollAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  overlapMs?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  rateLimit?: Resolver<Maybe<ResolversTypes['RateLimit']>, ParentType, ContextType>;
  software?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  state?: Resolver<ResolversTypes['SourceState'], ParentType, ContextType>;
  timeline?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  url?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type SourceCountsResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['SourceCounts'] = ResolversParentTypes['SourceCounts']> = {
  backfilled?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  duplicatesDropped?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  gaps?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  leaksPrevented?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  posts?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  requests?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type TimelineEntryResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['TimelineEntry'] = ResolversParentTypes['TimelineEntry']> = {
  arrivedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  late?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  post?: Resolver<ResolversTypes['Post'], ParentType, ContextType>;
  sortAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  source?: Resolver<ResolversTypes['Source'], ParentType, ContextType>;
};

export type TimelineGapResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['TimelineGap'] = ResolversParentTypes['TimelineGap']> = {
  final?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  from?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  reason?: Resolver<ResolversTypes['GapReason'], ParentType, ContextType>;
  source?: Resolver<ResolversTypes['Source'], ParentType, ContextType>;
  to?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type TimelinePageResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['TimelinePage'] = ResolversParentTypes['TimelinePage']> = {
  askAgainAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  edited?: Resolver<ReadonlyArray<ResolversTypes['Post']>, ParentType, ContextType>;
  entries?: Resolver<ReadonlyArray<ResolversTypes['TimelineEntry']>, ParentType, ContextType>;
  gaps?: Resolver<ReadonlyArray<ResolversTypes['TimelineGap']>, ParentType, ContextType>;
  hasNewer?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  problems?: Resolver<ReadonlyArray<ResolversTypes['Problem']>, ParentType, ContextType>;
  removed?: Resolver<ReadonlyArray<ResolversTypes['ID']>, ParentType, ContextType>;
  since?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  until?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type ViewerResolvers<ContextType = GraphQLContext, ParentType extends ResolversParentTypes['Viewer'] = ResolversParentTypes['Viewer']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  userId?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type Resolvers<ContextType = GraphQLContext> = {
  Author?: AuthorResolvers<ContextType>;
  Card?: CardResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Emoji?: EmojiResolvers<ContextType>;
  FeedInstance?: FeedInstanceResolvers<ContextType>;
  ForYouItem?: ForYouItemResolvers<ContextType>;
  ForYouPage?: ForYouPageResolvers<ContextType>;
  Lateness?: LatenessResolvers<ContextType>;
  Media?: MediaResolvers<ContextType>;
  Mention?: MentionResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  NextPage?: NextPageResolvers<ContextType>;
  Node?: NodeResolvers<ContextType>;
  Poll?: PollResolvers<ContextType>;
  PollOption?: PollOptionResolvers<ContextType>;
  Post?: PostResolvers<ContextType>;
  PostCounts?: PostCountsResolvers<ContextType>;
  Problem?: ProblemResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  RateLimit?: RateLimitResolvers<ContextType>;
  Reason?: ReasonResolvers<ContextType>;
  Snowflake?: SnowflakeResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
  SourceCounts?: SourceCountsResolvers<ContextType>;
  TimelineEntry?: TimelineEntryResolvers<ContextType>;
  TimelineGap?: TimelineGapResolvers<ContextType>;
  TimelinePage?: TimelinePageResolvers<ContextType>;
  Viewer?: ViewerResolvers<ContextType>;
};

