import { toLines } from '../input/clean-text.ts';
import { isWebUrl } from './fields.ts';
import { textToHtml, unescapeHtml } from './html.ts';
import { boundWords, once, type Words } from './words.ts';

/** What a t.co link of a tweet stands for. */
export interface TweetLink {
  /** As it stands in the text: `https://t.co/abc`. */
  readonly short: string;
  /** Absent for the tweet's own media: they are shown, so that the link is left out. */
  readonly target?: string | undefined;
  readonly shown?: string | undefined;
}

const SHORT_LINK = /(https?:\/\/t\.co\/[A-Za-z0-9]+)/;

/** So many are spelled out, which is more than a tweet has: an address may be a hundred times as long as its link. */
const MAX_LINKS = 100;

/** A tweet's text with its links spelled out, plain and as HTML. Twitter escapes `&`, `<` and `>` in what it sends. */
export function readTweetText(raw: string, links: readonly TweetLink[]): Words {
  return once(`tweet\0${JSON.stringify([raw, links])}`, () => {
    const targets = new Map(links.map((link) => [link.short, link]));
    return boundWords(raw, (part) => spellOut(part, targets));
  });
}

function spellOut(raw: string, targets: ReadonlyMap<string, TweetLink>): Words {
  // What was cut may have lost the end of what it opened.
  const pieces = toLines(raw)
    .split(SHORT_LINK)
    .map((piece, n) => {
      // Every other piece is a link; the text between is none, whatever an entity says.
      const link = n % 2 === 1 && n < 2 * MAX_LINKS ? targets.get(piece) : undefined;
      if (!link) return { text: unescapeHtml(piece), shown: unescapeHtml(piece) };
      if (link.target === undefined) return { text: '', shown: '' };
      return {
        text: link.target,
        shown: link.shown ?? link.target,
        ...(isWebUrl(link.target) && { href: link.target }),
      };
    });
  return {
    text: pieces
      .map((piece) => piece.text)
      .join('')
      .trim(),
    html: textToHtml(pieces.map((piece) => ({ text: piece.shown, href: piece.href }))),
  };
}
