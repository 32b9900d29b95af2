import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { startOf } from '../input/clean-text.ts';
import { htmlToText, sanitise, withinBounds } from './html.ts';

/** What a post says, twice. */
export interface Words {
  readonly text: string;
  /** Sanitised. */
  readonly html: string;
}

/** Of `text` and `html` together, as JSON. With it and what fields may hold, a post stays below its own bound. */
export const MAX_WORDS_BYTES = 64_000;

/** UTF-16 units of all that is remembered, at most 8 MB: a page of the longest posts, or the pages of fifty usual sources. */
const MAX_REMEMBERED = 4_000_000;

/** By the digest of what was read, which may be twice as long as its words. */
const remembered = new LRUCache<string, Words>({
  maxSize: MAX_REMEMBERED,
  // With what a key and its place take.
  sizeCalculation: ({ text, html }) => text.length + html.length + 100,
});

/** The words of a post from its HTML, at most MAX_WORDS_BYTES: what is longer is cut and ends in `…`. */
export function readHtml(content: string): Words {
  return once(`html\0${content}`, () => boundWords(content, htmlWords));
}

/**
 * What `read` makes of this, which begins with a word of its own for each kind: what authors write must not be taken for another
 * kind. Posts are read again and again as they are: the same one gives the same object, as far as memory
 * goes.
 */
export function once(raw: string, read: () => Words): Words {
  const key = createHash('sha256').update(raw).digest('base64');
  const words = remembered.get(key) ?? read();
  remembered.set(key, words);
  return words;
}

/**
 * What `read` makes of `source`, or of as much of its beginning as keeps within MAX_WORDS_BYTES, with `…` at its end.
 * The first cut is by as much as it is too long; those that follow are by a quarter at least, so that all tries cost five
 * times the first one at most.
 */
export function boundWords(source: string, read: (source: string) => Words): Words {
  let part = withinBounds(source);
  for (let most = 1; ; most = 0.75) {
    const words = read(part);
    const bytes = Buffer.byteLength(JSON.stringify([words.text, words.html]));
    if (bytes <= MAX_WORDS_BYTES) return part.length === source.length ? words : marked(words);
    part = startOf(part, Math.floor(part.length * Math.min(most, (0.98 * MAX_WORDS_BYTES) / bytes)));
  }
}

function htmlWords(content: string): Words {
  const html = sanitise(content);
  return { text: htmlToText(html), html };
}

/** Behind the last word, inside of the elements that end there. */
function marked({ text, html }: Words): Words {
  let at = html.length;
  for (let tag = html.lastIndexOf('<'); html.endsWith('>', at) && html[tag + 1] === '/'; ) {
    at = tag;
    tag = html.lastIndexOf('<', at - 1);
  }
  return { text: `${text}…`, html: `${html.slice(0, at)}…${html.slice(at)}` };
}
