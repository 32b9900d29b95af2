import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Post } from '../../../src/post.ts';
import { isEdit, isRecounted, revisionOf } from '../../../src/timeline/ingest/revision.ts';

const post: Post = {
  id: '1@town.example',
  upstreamId: '1',
  network: 'mastodon',
  idScheme: 'mastodon',
  uri: 'https://town.example/1',
  text: 'text',
  html: '<p>text</p>',
  createdAtMs: 0,
  visibility: 'PUBLIC',
  sensitive: false,
  media: [{ kind: 'IMAGE', url: 'https://town.example/1.png' }],
  hashtags: [],
  mentions: [],
  emojis: [],
  poll: { options: [{ text: 'yes', votes: 1 }], multiple: false, closed: false },
  counts: { likes: 1 },
};

describe('a revision', () => {
  it('differs with text, spoiler, sensitive mark, media, their descriptions and poll options', () => {
    const edits: readonly Partial<Post>[] = [
      { text: 'other' },
      { spoilerText: 'spoiler' },
      { sensitive: true },
      { media: [] },
      { media: [{ kind: 'IMAGE', url: 'https://town.example/1.png', alt: 'a cat' }] },
      { poll: { options: [{ text: 'no' }], multiple: false, closed: false } },
    ];
    const revisions = [post, ...edits.map((edit) => ({ ...post, ...edit }))].map(revisionOf);
    assert.equal(new Set(revisions).size, revisions.length);
  });

  it('does not differ with counts, votes, avatars, cards, or the target of a repost', () => {
    const author = { id: 'author:1@town.example', upstreamId: '1', handle: 'ann', name: 'Ann', bot: false, emojis: [] };
    const same: readonly Partial<Post>[] = [
      { counts: { likes: 2, replies: 7 } },
      { poll: { options: [{ text: 'yes', votes: 9 }], multiple: false, closed: true } },
      { author: { ...author, avatarUrl: 'https://town.example/new.png' } },
      { card: { url: 'https://other.example', title: 'card' } },
      { repostOf: { ...post, text: 'other' } },
    ];
    for (const change of same) assert.equal(revisionOf({ ...post, ...change }), revisionOf(post));
  });

  it('stays where the server tells that the post is unedited, whatever becomes of its media', () => {
    const moved = { ...post, media: [{ kind: 'IMAGE', url: 'https://files.town.example/1.png' }] } as const;
    const told = { tellsEdits: true } as const;
    assert.equal(isEdit(revisionOf({ ...post, ...told }), revisionOf({ ...moved, ...told })), false);
    assert.equal(isEdit(revisionOf(post), revisionOf(moved)), true, 'where it does not tell, the words and media do');
  });

  it('is no edit beside one of which the server told nothing, until it tells of an edit', () => {
    const untold = revisionOf(post);
    const unedited = revisionOf({ ...post, tellsEdits: true, text: 'as it is today' });
    assert.equal(isEdit(untold, unedited), false);
    assert.equal(isEdit(unedited, untold), false);
    for (const known of [untold, unedited]) {
      assert.equal(isEdit(known, revisionOf({ ...post, tellsEdits: true, editedAtMs: 1000 })), true);
    }
  });

  it('is the time of the edit where the server tells it; only a later one is an edit then', () => {
    const edited = (editedAtMs: number) => revisionOf({ ...post, editedAtMs });
    assert.equal(isEdit(revisionOf(post), edited(1000)), true);
    assert.equal(isEdit(edited(999), edited(1000)), true);
    assert.equal(isEdit(edited(1000), edited(999)), false);
    assert.equal(isEdit(edited(1000), revisionOf(post)), false);
    assert.equal(isEdit(edited(1000), edited(1000)), false);
  });
});

describe('a recount', () => {
  it('is a change of counts, votes or media addresses, of the post or of what is nested in it', () => {
    const repost = { ...post, repostOf: { ...post, id: '2@town.example' } };
    const moved = { ...post, media: [{ kind: 'IMAGE', url: 'https://files.town.example/1.png' }] } as const;
    assert.equal(isRecounted({ ...post, tellsEdits: true }, { ...moved, tellsEdits: true }), true);
    assert.equal(isRecounted(post, { ...post, counts: { likes: 2 } }), true);
    assert.equal(
      isRecounted(post, { ...post, poll: { options: [{ text: 'yes', votes: 2 }], multiple: false, closed: false } }),
      true,
    );
    assert.equal(isRecounted(repost, { ...repost, repostOf: { ...repost.repostOf, counts: { likes: 5 } } }), true);
    assert.equal(isRecounted(repost, { ...repost, repostOf: { ...repost.repostOf, text: 'edited' } }), true);
    assert.equal(isRecounted(post, { ...post, html: '<p>other</p>', counts: { likes: 1, replies: undefined } }), false);
  });
});
