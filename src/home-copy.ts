import type { Post, PostId } from './post.ts';
import type { Source } from './source.ts';

/** A post or an entry of a log, by what tells where it came from and what it claims to be. */
export interface Copy {
  readonly postId: PostId;
  readonly uri: string;
}

/** Which copies of posts come from the server that their uri names. Its word on a post is worth more than any other's. */
export interface Homes {
  /** True for a copy that a source of the uri's own host brought. A uri that is no http(s) URL is at home nowhere. */
  isHome(copy: Copy): boolean;
  /** The sources at which this uri is at home; mostly none. */
  sourcesOf(uri: string): readonly Source[];
}

/** For a network that goes by two names. */
const NETWORK_HOSTS = { mastodon: [], twitter: ['x.com', 'twitter.com'] } as const;

const known = new WeakMap<Source, readonly string[]>();

/** By these sources alone: a viewer's, so that none that is hidden from it changes what it sees. */
export function homesOf(sources: readonly Source[]): Homes {
  let byHost: ReadonlyMap<string, readonly Source[]> | undefined;
  const isOf = (uri: string, source: Source) => urlsOf(source).some((url) => uri.startsWith(url));
  return {
    isHome({ postId, uri }) {
      byHost ??= Map.groupBy(sources, ({ host }) => host);
      return (byHost.get(hostOf(postId)) ?? []).some((source) => isOf(uri, source));
    },
    sourcesOf: (uri) => sources.filter((source) => isOf(uri, source)),
  };
}

/** The post that is shown in the end: of reposts the original. */
export function originalOf(post: Post): Post {
  return post.repostOf ? originalOf(post.repostOf) : post;
}

/** The post with another original: itself, or what it reposts. */
export function withOriginal(post: Post, original: Post): Post {
  return post.repostOf ? { ...post, repostOf: withOriginal(post.repostOf, original) } : original;
}

/** What the uris of a source's own posts begin with. */
function urlsOf(source: Source): readonly string[] {
  const found = known.get(source) ?? namesOf(source).flatMap((host) => [`https://${host}/`, `http://${host}/`]);
  known.set(source, found);
  return found;
}

function namesOf({ host, url, network }: Source): readonly string[] {
  return [...new Set([host, new URL(url).host, ...NETWORK_HOSTS[network]])];
}

function hostOf(postId: PostId): string {
  return postId.slice(postId.lastIndexOf('@') + 1);
}
