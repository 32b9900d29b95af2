/**
 * What text of an upstream may hold. Controls are never shown, and what turns the direction of writing must not turn what
 * stands beside the text. The marks U+200E, U+200F and U+061C, and the joiners, stay: they reach no further than a word.
 */

const LINE_ENDS = /\r\n?|[\v\f\x85]/g;
const CONTROLS = /[^\P{Cc}\t\n]/gu;
/** Embeddings, overrides and isolates with their ends. @see https://www.unicode.org/reports/tr9/#Explicit_Directional_Embeddings */
const BIDI = '[\\u202a-\\u202e\\u2066-\\u2069]';
const OF_ONE_LINE = new RegExp(`[\\p{Cc}]|${BIDI}`, 'gu');
const OF_LINES = new RegExp(`${BIDI}|\\n|$`, 'g');
const OF_HTML = new RegExp(`${BIDI}|</?(?:p|br|li|ul|ol|blockquote|pre|h[1-6])\\b[^>]*>|$`, 'g');
const UNCLEAN = new RegExp(`[\\p{Cc}\\p{Cs}\\u2028\\u2029]|${BIDI}`, 'u');

const POP = '\u202c';
const POP_ISOLATE = '\u2069';
/** More than text that people write needs; what is nested deeper is left out. */
const MAX_NESTED = 16;

/** A name or label: one line without controls, and without anything that turns the direction of what follows it. */
export function toLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\t-\r\x85\u2028\u2029]+/g, ' ')
    .replace(OF_ONE_LINE, '');
}

/** Text of several lines, without controls but tabs and `\n`; each line closes what it opened for the direction of writing. */
export function toLines(text: string): string {
  return balanced(withoutControls(text), OF_LINES);
}

/** The same for HTML that is sanitised already, where a paragraph ends what a line does in text. */
export function cleanHtml(safeHtml: string): string {
  return balanced(withoutControls(safeHtml), OF_HTML);
}

/** True for text without controls, line ends, lone surrogates and anything that turns the direction of writing. */
export function isClean(text: string): boolean {
  return !UNCLEAN.test(text);
}

/** At most `max` UTF-16 units: what is longer ends in `…`. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${startOf(text, max - 1)}…`;
}

/** The first `length` units, one less where a surrogate pair would be torn. A copy: a slice keeps all that it was cut from. */
export function startOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return Buffer.from(text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)).toString();
}

function withoutControls(text: string): string {
  return text.toWellFormed().replace(LINE_ENDS, '\n').replace(CONTROLS, '');
}

/** Closes what is open wherever `marks` finds no bidi control: at the ends of paragraphs and at the end. Ends of nothing go. */
function balanced(text: string, marks: RegExp): string {
  const open: string[] = [];
  return text.replace(marks, (mark) => {
    if (mark === POP) return open.at(-1) === POP ? (open.pop() ?? '') : '';
    if (mark === POP_ISOLATE) {
      const isolate = open.lastIndexOf(POP_ISOLATE);
      return isolate < 0 ? '' : open.splice(isolate).reverse().join('');
    }
    if (mark >= '\u202a' && mark <= '\u2068' && mark.length === 1) {
      if (open.length >= MAX_NESTED) return '';
      open.push(mark < '\u2066' ? POP : POP_ISOLATE);
      return mark;
    }
    return open.splice(0).reverse().join('') + mark;
  });
}
