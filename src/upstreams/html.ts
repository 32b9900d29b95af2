import sanitizeHtml from 'sanitize-html';
import { cleanHtml, isClean, startOf } from '../input/clean-text.ts';
import { isWebUrl } from './fields.ts';

/** More than any post of the servers we know has; what is beyond is cut. Deep nesting costs the sanitiser its square. */
const MAX_HTML = 100_000;
const MAX_TAGS = 2_000;
const MAX_HREF = 2_048;

const SCHEMES = ['http', 'https', 'mailto', 'gemini', 'gopher', 'xmpp', 'magnet', 'ipfs', 'ipns'];
const ABSOLUTE = new RegExp(`^(${SCHEMES.join('|')}):`, 'i');

const OPTIONS: sanitizeHtml.IOptions = {
  // As Mastodon's own clients take it. @see https://docs.joinmastodon.org/spec/activitypub/#sanitization
  allowedTags: [
    ...['p', 'br', 'span', 'a', 'del', 's', 'pre', 'code', 'em', 'strong', 'b', 'i', 'u', 'sub', 'sup'],
    ...['ul', 'ol', 'li', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  ],
  allowedAttributes: { a: ['href', 'rel', 'target', 'class'], span: ['class'], blockquote: ['class'], p: ['class'] },
  allowedClasses: {
    '*': ['mention', 'hashtag', 'invisible', 'ellipsis', 'quote-inline', 'u-url', 'h-card'],
  },
  allowedSchemes: SCHEMES,
  allowedSchemesAppliedToAttributes: ['href'],
  allowProtocolRelative: false,
  nestingLimit: 20,
  transformTags: {
    a: (tagName, { href = '', ...attribs }) => ({
      tagName,
      attribs: {
        ...(mayLead(href) ? { href } : {}),
        ...attribs,
        rel: 'nofollow noopener noreferrer',
        target: '_blank',
      },
    }),
  },
};

/** HTML of an upstream made safe to show: formatting and links alone; every link opens apart and tells nothing about us. */
export function sanitise(html: string): string {
  return cleanHtml(sanitizeHtml(withinBounds(html).toWellFormed(), OPTIONS)).trim();
}

/** As much of the HTML as `sanitise` looks at: 100,000 UTF-16 units and 2,000 tags. */
export function withinBounds(html: string): string {
  let at = -1;
  for (let tags = 0; tags <= MAX_TAGS; tags++) {
    at = html.indexOf('<', at + 1);
    if (at < 0 || at > MAX_HTML) return html.length > MAX_HTML ? startOf(html, MAX_HTML) : html;
  }
  return startOf(html, at);
}

/**
 * The words of HTML that `sanitise` gave: paragraphs stand apart by an empty line, a link is the text it shows.
 * Mastodon hides parts of a link's URL in spans of class `invisible`: they are kept, so that the URL is whole.
 */
export function htmlToText(safeHtml: string): string {
  return unescapeHtml(
    safeHtml
      // Whole runs of white space: a pattern that also has to look for their end would begin anew at each character of them.
      .replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space))
      .replace(/<br\b[^>]*>/g, '\n')
      .replace(/<li\b[^>]*>/g, '\n- ')
      .replace(PARAGRAPHS, '\n\n')
      .replace(/<[^>]*>/g, ''),
  )
    .replace(/[ \t\n]+/g, (space) => {
      const first = space.indexOf('\n');
      return first < 0 ? space : first === space.lastIndexOf('\n') ? '\n' : '\n\n';
    })
    .trim();
}

const PARAGRAPHS = /<\/?(?:p|ul|ol|blockquote|pre|h[1-6])\b[^>]*>/g;

/** Plain text as HTML: paragraphs and line breaks, and a link where `link` gives one for a piece of text. */
export function textToHtml(pieces: readonly { text: string; href?: string | undefined }[]): string {
  const html = pieces
    .map(({ text, href }) =>
      href === undefined
        ? escapeHtml(text)
        : `<a href="${escapeHtml(href)}" rel="nofollow noopener noreferrer" target="_blank">${escapeHtml(text)}</a>`,
    )
    .join('')
    .trim();
  if (html === '') return '';
  return `<p>${html.replace(/\n{2,}/g, '</p><p>').replace(/\n/g, '<br />')}</p>`;
}

/** The five entities that HTML escaping, ours and Twitter's, uses. */
export function unescapeHtml(text: string): string {
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}

/** A relative address would lead into the site that shows the post. */
function mayLead(href: string): boolean {
  return /^https?:/i.test(href) ? isWebUrl(href) : href.length <= MAX_HREF && ABSOLUTE.test(href) && isClean(href);
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
