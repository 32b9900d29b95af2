import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { codesOf, createPost, createSource, dataOf, openEdge, publish } from '../edge-fixture.ts';

const town = createSource('town');
const edge = await openEdge({ sources: [town] });
after(() => edge.close());

test('every field of a post that says nothing is null or empty', async () => {
  const post = createPost(town, 1);
  await publish(edge, town, [post]);
  const query = `{ post(id: "${post.id}") {
    uri url author { id } createdAt editedAt language visibility sensitive spoilerText inReplyToId repostOf { id } quoted { id }
    media { url } hashtags mentions { handle } emojis { url } card { url } poll { votes } counts { likes } network upstreamId
  } }`;
  assert.deepEqual(dataOf(await edge.ask(query)).post, {
    uri: post.uri,
    url: null,
    author: null,
    createdAt: '2026-11-20T11:59:59.000Z',
    editedAt: null,
    language: null,
    visibility: 'PUBLIC',
    sensitive: false,
    spoilerText: null,
    inReplyToId: null,
    repostOf: null,
    quoted: null,
    media: [],
    hashtags: [],
    mentions: [],
    emojis: [],
    card: null,
    poll: null,
    counts: { likes: null },
    network: 'mastodon',
    upstreamId: post.upstreamId,
  });
});

test('every field of a post that says all is told', async () => {
  const emojis = [{ shortcode: 'cat', url: 'https://town.example/cat.png' }];
  const post = createPost(town, 2, {
    author: { id: 'author:1@town.example', upstreamId: '1', handle: 'ann', name: 'Ann', bot: true, emojis },
    editedAtMs: 0,
    inReplyToId: '7@town.example',
    quoted: createPost(town, 3),
    media: [{ kind: 'VIDEO', url: 'https://town.example/v.mp4', width: 4, height: 3, durationMs: 1500 }],
    hashtags: ['cats'],
    mentions: [{ handle: 'bob@lake.example', authorId: 'author:2@town.example' }],
    emojis,
    card: { url: 'https://a.example/', title: '' },
    poll: {
      options: [{ text: 'a', votes: 2 }, { text: 'b' }],
      multiple: false,
      endsAtMs: 1000,
      closed: true,
      votes: 2,
    },
    counts: { replies: 0, likes: 4 },
  });
  await publish(edge, town, [post]);
  const query = `{ post(id: "${post.id}") {
    author { id handle name url bot emojis { shortcode } } editedAt inReplyToId quoted { text } media { kind width height durationMs alt }
    hashtags mentions { handle url authorId } card { title description } poll { options { text votes } endsAt closed } counts { replies reposts likes }
  } }`;
  assert.deepEqual(dataOf(await edge.ask(query)).post, {
    author: {
      id: 'author:1@town.example',
      handle: 'ann',
      name: 'Ann',
      url: null,
      bot: true,
      emojis: [{ shortcode: 'cat' }],
    },
    editedAt: '1970-01-01T00:00:00.000Z',
    inReplyToId: '7@town.example',
    quoted: { text: 'post of town, 3 s ago' },
    media: [{ kind: 'VIDEO', width: 4, height: 3, durationMs: 1500, alt: null }],
    hashtags: ['cats'],
    mentions: [{ handle: 'bob@lake.example', url: null, authorId: 'author:2@town.example' }],
    card: { title: '', description: null },
    poll: {
      options: [
        { text: 'a', votes: 2 },
        { text: 'b', votes: null },
      ],
      endsAt: '1970-01-01T00:00:01.000Z',
      closed: true,
    },
    counts: { replies: 0, reposts: null, likes: 4 },
  });
});

test('the uri is null where it is only the id that stands in for one', async () => {
  const plain = createPost(town, 4);
  await publish(edge, town, [{ ...plain, uri: plain.id }]);
  assert.deepEqual(dataOf(await edge.ask(`{ post(id: "${plain.id}") { uri } }`)).post, { uri: null });
});

test('an id of a known layout is taken apart, one of another scheme is not', async () => {
  const mastodon = createPost(town, 5);
  const opaque = createPost(town, 6, { idScheme: 'opaque' });
  const broken = createPost(town, 7, { upstreamId: 'abc' });
  const sequential = createPost(town, 8, { idScheme: 'twitter', upstreamId: '20' });
  await publish(edge, town, [mastodon, opaque, broken, sequential]);
  const snowflakeOf = async ({ id }: { id: string }) =>
    dataOf(await edge.ask(`{ post(id: "${id}") { snowflake { value time generator sequence layout } } }`)).post
      .snowflake;
  assert.deepEqual(await snowflakeOf(mastodon), {
    value: mastodon.upstreamId,
    time: '2026-11-20T11:59:55.000Z',
    generator: null,
    sequence: 1,
    layout: 'MASTODON',
  });
  const others = await Promise.all([opaque, broken, sequential].map(snowflakeOf));
  assert.deepEqual(others, [null, null, null]);
});

test('a snowflake of each layout is taken apart', async () => {
  const ask = async (value: string, layout: string) => {
    const query = `{ snowflake(value: "${value}", layout: ${layout}) { value time generator sequence } }`;
    return dataOf(await edge.ask(query)).snowflake;
  };
  // Twitter: one second after its epoch, machine 5, sequence 7.
  const twitter = String((1000n << 22n) | (5n << 12n) | 7n);
  assert.deepEqual(await ask(twitter, 'TWITTER'), {
    value: twitter,
    time: '2010-11-04T01:42:55.657Z',
    generator: 5,
    sequence: 7,
  });
  // CecoChat: 8 bits of generator, 14 of sequence, from 2021.
  const ceco = String((1000n << 22n) | (5n << 14n) | 7n);
  assert.deepEqual(await ask(ceco, 'CECOCHAT'), {
    value: ceco,
    time: '2021-01-01T00:00:01.000Z',
    generator: 5,
    sequence: 7,
  });
  const mastodon = String((1000n << 16n) | 65535n);
  assert.deepEqual(await ask(mastodon, 'MASTODON'), {
    value: mastodon,
    time: '1970-01-01T00:00:01.000Z',
    generator: null,
    sequence: 65535,
  });
});

test('what is no snowflake of the layout is refused', async () => {
  const values = [
    '',
    ' 1',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    '01',
    'abc',
    '9'.repeat(19),
    '9'.repeat(20),
    '9'.repeat(90_000),
  ];
  for (const value of values) {
    const query = 'query ($value: String!) { snowflake(value: $value, layout: TWITTER) { time } }';
    const answer = await edge.ask(query, { variables: { value } });
    assert.deepEqual(codesOf(answer), ['BAD_USER_INPUT value'], value.slice(0, 25));
  }
  // The highest 64-bit id is of the year 10889, which no DateTime can write.
  const highest = '{ snowflake(value: "18446744073709551615", layout: MASTODON) { time } }';
  assert.deepEqual(codesOf(await edge.ask(highest)), ['BAD_USER_INPUT value']);
});
