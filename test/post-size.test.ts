import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Post } from '../src/post.ts';
import { sizeOf } from '../src/post-size.ts';
import { createPost, createSource } from './edge-fixture.ts';

const plain = createPost(createSource('town'), 1);
const words = fc.string({ unit: fc.constantFrom('a', 'é', ' ', 'z'), maxLength: 3_000 });
const link = words.map((path) => `https://a.example/${path}`);
const emojis = fc.array(fc.record({ shortcode: words, url: link }), { maxLength: 5 });

const posts: fc.Arbitrary<Post> = fc.letrec<{ post: Post }>((tie) => ({
  post: fc
    .record({
      text: words,
      html: words,
      url: fc.option(link, { nil: undefined }),
      spoilerText: fc.option(words, { nil: undefined }),
      author: fc.option(
        fc.record({ id: words, upstreamId: fc.constant('1'), handle: words, name: words, bot: fc.boolean(), emojis }),
        { nil: undefined },
      ),
      media: fc.array(
        fc.record({ kind: fc.constant('IMAGE'), url: link, previewUrl: link, alt: words, blurhash: words }),
      ),
      mentions: fc.array(fc.record({ handle: words, url: link, authorId: words }), { maxLength: 5 }),
      hashtags: fc.array(words, { maxLength: 5 }),
      emojis,
      card: fc.option(fc.record({ url: link, title: words, description: words, imageUrl: link }), { nil: undefined }),
      poll: fc.option(
        fc.record({
          options: fc.array(fc.record({ text: words, votes: fc.nat() })),
          multiple: fc.boolean(),
          closed: fc.boolean(),
        }),
        { nil: undefined },
      ),
      repostOf: fc.option(tie('post'), { nil: undefined, maxDepth: 2, depthSize: 'small' }),
      quoted: fc.option(tie('post'), { nil: undefined, maxDepth: 2, depthSize: 'small' }),
    })
    .map((changes): Post => ({ ...plain, ...changes })),
})).post;

test('the size of a post is at least that of its JSON, whatever of it is long, and not much more', () => {
  fc.assert(
    fc.property(posts, (post) => {
      const json = JSON.stringify(post).length;
      const size = sizeOf(post);
      assert.ok(size >= json && size <= 4 * json + 2_000, `${size} for ${json}`);
    }),
  );
});
