import { htmlToText, sanitise } from '../src/upstreams/html.ts';
import { toPost } from '../src/upstreams/mastodon-status.ts';
import { readTweetText } from '../src/upstreams/twitter-text.ts';
import { HOSTILE_TEXTS } from '../test/upstreams/hostile-text.ts';
import { print, short, sideBySide } from './side-by-side.ts';

/**
 * What a hostile author's text costs, beside one a tenth as long: about 10 is linear, 100 a square. The same work is done for
 * both, ten times the shorter and once the longer, in turns.
 */
const ROUNDS = 7;
const SMALL = 9_000;
const TIMES = 10;

const status = { id: '1', created_at: '2026-11-20T12:00:00Z', visibility: 'public' };
const context = { host: 'town.example', idScheme: 'mastodon' } as const;
const link = { short: 'https://t.co/a', target: 'https://a.example/' };

// Never the same twice: what is read again as it was is remembered.
let read = 0;

const rows = [];
for (const [shape, make] of Object.entries(HOSTILE_TEXTS)) {
  const html = await ratio(make, (text) => htmlToText(sanitise(text)));
  const tweet = await ratio(make, (text) => readTweetText(`${text} ${read++}`, [link]));
  const name = await ratio(make, (text) => toPost({ ...status, account: { id: '2', display_name: text } }, context));
  rows.push([shape, short(html.longMs), html.ratio, tweet.ratio, name.ratio]);
}
print(
  `Hostile posts of ${short(TIMES * SMALL)} characters beside ones of ${short(SMALL)} (\`hostile-posts\`)`,
  ['what it holds', 'ms of HTML', 'HTML', 'tweet', 'name'],
  rows,
);

async function ratio(make: (size: number) => string, read: (text: string) => unknown) {
  const small = make(SMALL);
  const large = make(TIMES * SMALL);
  const [smallMs = 0, longMs = 0] = await sideBySide(
    [
      ['ten short ones', () => Array.from({ length: TIMES }, () => read(small))],
      ['a long one', () => read(large)],
    ],
    ROUNDS,
  );
  return { longMs, ratio: `${short((longMs / smallMs) * TIMES)} x` };
}
