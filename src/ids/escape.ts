const ESCAPES: Readonly<Record<string, string>> = { '%': '%25', ':': '%3A', '@': '%40' };
const PLAIN: Readonly<Record<string, string>> = { '%25': '%', '%3A': ':', '%40': '@' };

/** Percent-encodes `:`, `@` and `%`, which separate the parts of our ids, and nothing else: `a:b` gives `a%3Ab`. */
export function escapePart(text: string): string {
  return text.replace(/[%:@]/g, (character) => ESCAPES[character] ?? character);
}

/** The exact inverse of `escapePart`; undefined for an empty text and for what `escapePart` would not give. */
export function unescapePart(part: string): string | undefined {
  if (part === '' || /[:@]|%(?!25|3A|40)/.test(part)) return undefined;
  return part.replace(/%../g, (escaped) => PLAIN[escaped] ?? escaped);
}
