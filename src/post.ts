/**
 * A post as every floor above the upstreams knows it: plain JSON data, so that a store keeps it as it is.
 * All times are Unix milliseconds. Absent is `undefined`.
 */
export interface Post {
  /** `<upstream id>@<host>`, the same over edits. @see ids/post-id.ts */
  readonly id: PostId;
  /** The upstream's present id: differs from the one in `id` after an edit on Twitter or snac. */
  readonly upstreamId: string;
  readonly network: Network;
  /** The scheme of `upstreamId`, named as in ids/id-scheme.ts. */
  readonly idScheme: IdSchemeName;
  /** Names the post on all servers. Never absent: Twitter's status URL, else the post id. */
  readonly uri: string;
  readonly url?: string | undefined;
  readonly author?: Author | undefined;
  /** Plain text; empty for a repost. */
  readonly text: string;
  /** Sanitised HTML; empty for a repost. */
  readonly html: string;
  readonly createdAtMs: number;
  readonly editedAtMs?: number | undefined;
  /** True where the upstream told whether the post was edited: without `editedAtMs` it was not. */
  readonly tellsEdits?: true | undefined;
  /** BCP 47. */
  readonly language?: string | undefined;
  readonly visibility: Visibility;
  readonly sensitive: boolean;
  readonly spoilerText?: string | undefined;
  readonly inReplyToId?: PostId | undefined;
  readonly repostOf?: Post | undefined;
  readonly quoted?: Post | undefined;
  readonly media: readonly Media[];
  /** Without `#`. */
  readonly hashtags: readonly string[];
  readonly mentions: readonly Mention[];
  readonly emojis: readonly Emoji[];
  readonly card?: Card | undefined;
  readonly poll?: Poll | undefined;
  readonly counts: PostCounts;
}

/** `<upstream id>@<host>`, with `:`, `@` and `%` of the upstream id percent-encoded. Example: `115@town.example`. */
export type PostId = string;

export type Network = 'mastodon' | 'twitter';

export type Visibility = 'PUBLIC' | 'UNLISTED' | 'FOLLOWERS' | 'DIRECT';

/** The id schemes of upstreams.md's table; `opaque` never gets arithmetic. */
export type IdSchemeName = 'mastodon' | 'twitter' | 'pixelfed' | 'takahe' | 'flake' | 'ulid' | 'uuidv7' | 'opaque';

export interface Author {
  /** `author:<upstream id>@<host>`. */
  readonly id: string;
  readonly upstreamId: string;
  /** Without a leading `@`; with the host for an account of another server. */
  readonly handle: string;
  readonly name: string;
  readonly url?: string | undefined;
  readonly avatarUrl?: string | undefined;
  readonly bot: boolean;
  readonly emojis: readonly Emoji[];
}

export interface Media {
  readonly kind: 'IMAGE' | 'VIDEO' | 'GIF' | 'AUDIO' | 'OTHER';
  readonly url: string;
  readonly previewUrl?: string | undefined;
  readonly alt?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly blurhash?: string | undefined;
  readonly durationMs?: number | undefined;
}

export interface Mention {
  readonly handle: string;
  readonly url?: string | undefined;
  readonly authorId?: string | undefined;
}

export interface Emoji {
  readonly shortcode: string;
  readonly url: string;
}

export interface Card {
  readonly url: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly imageUrl?: string | undefined;
}

export interface Poll {
  readonly options: readonly { readonly text: string; readonly votes?: number | undefined }[];
  readonly multiple: boolean;
  readonly endsAtMs?: number | undefined;
  readonly closed: boolean;
  readonly votes?: number | undefined;
}

/** Absent where the upstream does not tell. */
export interface PostCounts {
  readonly replies?: number | undefined;
  readonly reposts?: number | undefined;
  readonly likes?: number | undefined;
  readonly quotes?: number | undefined;
}
