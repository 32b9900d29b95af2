import type { Post } from '../../src/post.ts';
import type { Source } from '../../src/source.ts';
import { createPost, NOW_MS } from '../../test/edge-fixture.ts';

const POSTS = 500;
const MINUTE_MS = 60_000;
const TEXT = 'A post as long as most of them are, with a link, a name and a tag in it. '.repeat(4);

/** Posts of this source, one a minute up to `nowMs`. */
export function createPosts(source: Source, nowMs: number): readonly Post[] {
  return Array.from({ length: POSTS }, (_, n) =>
    createPost(source, (NOW_MS - nowMs + (n + 1) * MINUTE_MS) / 1000, {
      text: TEXT,
      html: `<p>${TEXT}</p>`,
      url: `${source.url}/@ada/${n}`,
      language: 'en',
      author: {
        id: `author:${n % 50}@town`,
        upstreamId: `${n % 50}`,
        handle: `ada${n % 50}@town`,
        name: 'Ada Test',
        url: `${source.url}/@ada${n % 50}`,
        avatarUrl: `${source.url}/avatars/${n % 50}.webp`,
        bot: false,
        emojis: [],
      },
      hashtags: n % 3 === 0 ? ['photography', 'town'] : [],
      media: n % 2 === 0 ? [{ kind: 'IMAGE', url: `${source.url}/media/${n}.webp`, alt: 'A town.' }] : [],
      counts: { replies: n % 7, reposts: n % 11, likes: n % 17 },
    }),
  );
}
