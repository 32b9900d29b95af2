import assert from 'node:assert/strict';
import test from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { askableId, statusPostId, toPost } from '../../src/upstreams/mastodon-status.ts';

const context = { host: 'town.example', idScheme: 'mastodon' } as const;

/** 2026-11-20T12:00:00.000Z as a Mastodon id: `ms << 16`. */
const NOON_MS = Date.UTC(2026, 10, 20, 12);
const NOON_ID = String(BigInt(NOON_MS) << 16n);

function status(fields: object = {}): object {
  return { id: NOON_ID, created_at: '2026-11-20T12:00:00.000Z', visibility: 'public', content: '<p>hi</p>', ...fields };
}

test('the most private reading wins for a visibility that is new, missing or odd', () => {
  for (const visibility of ['private', 'mutuals_only', 'circle', 'PUBLIC', '', null, 7, undefined]) {
    assert.equal(toPost(status({ visibility }), context).visibility, 'FOLLOWERS');
  }
  assert.equal(toPost(status({ visibility: 'direct' }), context).visibility, 'DIRECT');
  const nested = toPost(status({ reblog: status({ id: '2', visibility: 'limited' }) }), context);
  assert.equal(nested.repostOf?.visibility, 'FOLLOWERS');
});

test('the time of the id stands in for an unusable created_at', () => {
  for (const created_at of [undefined, null, '', 'yesterday', '999999-01-01', -5]) {
    assert.equal(toPost(status({ created_at }), context).createdAtMs, NOON_MS);
  }
});

test('a post without any time is MALFORMED', () => {
  const opaque = { ...context, idScheme: 'opaque' } as const;
  assert.throws(() => toPost(status({ created_at: null }), opaque), {
    code: 'MALFORMED',
    message: 'created_at must be a time',
  });
});

test('whether a post was edited is told by a field that is there: null says that it was not', () => {
  const toldBy = (fields: object) => {
    const { editedAtMs, tellsEdits } = toPost(status(fields), context);
    return [editedAtMs, tellsEdits];
  };
  assert.deepEqual(toldBy({ edited_at: null }), [undefined, true]);
  assert.deepEqual(toldBy({ edited_at: '2026-11-20T12:00:01.000Z' }), [NOON_MS + 1000, true]);
  for (const odd of [{}, { edited_at: 'yesterday' }, { edited_at: 7 }]) {
    assert.deepEqual(toldBy(odd), [undefined, undefined]);
  }
});

test('a time without a zone is taken as UTC', () => {
  assert.equal(toPost(status({ created_at: '2026-11-20T12:00:01' }), context).createdAtMs, NOON_MS + 1000);
});

test('without a uri the post id names the post', () => {
  assert.equal(toPost(status({ uri: null }), context).uri, `${NOON_ID}@town.example`);
});

test('a boost that has the uri of what it boosts is named by its post id', () => {
  const uri = 'https://town.example/1';
  const post = toPost(status({ uri, reblog: status({ id: '1', uri }) }), context);
  assert.deepEqual([post.uri, post.repostOf?.uri], [`${NOON_ID}@town.example`, uri]);
});

test("snac: a post id is the id's stable part, and a boost's upper-case one is another post", () => {
  const hex = '1d15defd501aa3fc1cd57d67999e953e';
  assert.equal(statusPostId(`1795208109${hex}`, 'snac.example'), `${hex}@snac.example`);
  assert.equal(statusPostId(`1795208250${hex}`, 'snac.example'), `${hex}@snac.example`);
  const boost = `1795208109${hex}`.toUpperCase();
  assert.equal(statusPostId(boost, 'snac.example'), `${hex.toUpperCase()}@snac.example`);
  assert.equal(statusPostId(`179520810x${hex}`, 'snac.example'), `179520810x${hex}@snac.example`);
});

test('snac: the stable part is asked for in the length that it takes', () => {
  assert.equal(askableId('1d15defd501aa3fc1cd57d67999e953e'), '00000000001d15defd501aa3fc1cd57d67999e953e');
  assert.equal(askableId('109348684804843987'), '109348684804843987');
});

test('a quote is shown when it is accepted, or when the server knows no states', () => {
  const quoted_status = status({ id: '5' });
  const quotedOf = (quote: unknown) => toPost(status({ quote }), context).quoted?.upstreamId;
  assert.equal(quotedOf({ state: 'accepted', quoted_status }), '5');
  assert.equal(quotedOf(quoted_status), '5');
  for (const state of ['pending', 'rejected', 'revoked', 'deleted', 'unauthorized', 'something-new']) {
    assert.equal(quotedOf({ state, quoted_status }), undefined);
  }
  for (const quote of [null, {}, 'x', [], { state: 'accepted' }, { state: 'accepted', quoted_status: { id: null } }]) {
    assert.equal(quotedOf(quote), undefined);
  }
});

test('nesting ends after a boost of a post that quotes', () => {
  const quotes = (depth: number): object => status({ id: String(depth), quote: depth > 50 ? null : quotes(depth + 1) });
  const post = toPost(status({ reblog: quotes(1) }), context);
  assert.equal(post.repostOf?.quoted?.upstreamId, '2');
  assert.equal(post.repostOf?.quoted?.quoted, undefined);

  const boosts = (depth: number): object => status({ reblog: depth > 50 ? null : boosts(depth + 1) });
  assert.throws(() => toPost(boosts(1), context), UpstreamError);
});

test('one odd field never costs the post', () => {
  const odd = [null, 7, -1, Number.POSITIVE_INFINITY, 'x', '', [], [null, 3, {}], {}, { id: {} }, true, '\ud800'];
  const names = [
    ...['uri', 'url', 'account', 'content', 'edited_at', 'language', 'sensitive', 'spoiler_text', 'in_reply_to_id'],
    ...['media_attachments', 'mentions', 'tags', 'emojis', 'card', 'poll', 'replies_count', 'quotes_count', 'quote'],
  ];
  for (const name of names) {
    for (const value of odd) {
      const post = toPost(status({ [name]: value }), context);
      assert.equal(post.upstreamId, NOON_ID, `${name}: ${JSON.stringify(value)}`);
    }
  }
});

test('links of other schemes than http are no URLs', () => {
  const account = { id: '1', acct: 'a', url: 'javascript:alert(1)', avatar: 'data:image/png;base64,x' };
  const media_attachments = [{ type: 'image', url: 'javascript:alert(1)', preview_url: '/relative.png' }];
  const card = { url: 'vbscript:x', title: 't' };
  const post = toPost(status({ url: 'ftp://town.example/', account, media_attachments, card }), context);
  assert.deepEqual([post.url, post.author?.url, post.author?.avatarUrl], [undefined, undefined, undefined]);
  assert.deepEqual([post.media, post.card], [[], undefined]);
});

test('counts beyond what GraphQL can say are told as the largest', () => {
  assert.equal(toPost(status({ favourites_count: 1e12 }), context).counts.likes, 2_147_483_647);
  assert.equal(toPost(status({ favourites_count: -1 }), context).counts.likes, undefined);
});

test('what is no status at all is MALFORMED', () => {
  for (const raw of [null, 'x', 7, [], {}, { id: '' }, { id: 'a b' }, { id: 'ü' }, { id: 1.5 }, { id: 2 ** 60 }]) {
    assert.throws(
      () => toPost(raw, context),
      (error) => error instanceof UpstreamError && error.code === 'MALFORMED',
    );
  }
});
