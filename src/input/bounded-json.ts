import { createCollector } from './collect-bytes.ts';

/** Real pages nest at most 9 levels. */
const MAX_DEPTH = 64;
/**
 * Commas and opening brackets. A page of 200 posts has some 30,000. Of `[],[],…` each takes some 40 bytes and 0.1 µs, so that
 * what is parsed takes some ten MB and milliseconds at most, whatever its bytes are.
 */
const MAX_VALUES = 250_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Reads a stream to its end. Undefined where it holds more than `maxBytes`: then it is destroyed and the rest is never read. */
export async function readAtMost(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const body = createCollector(maxBytes);
  for await (const chunk of stream) if (!body.add(chunk)) return undefined;
  return body.whole();
}

/**
 * The value of a text from elsewhere, or why there is none: `a body that is not JSON`. What nests deeper than 64 levels or holds
 * more than 250,000 values is refused before it is parsed.
 */
export function parseBoundedJson(
  text: string,
): { readonly value: unknown } | { readonly refused: string; readonly isTooLarge: boolean } {
  const refused = beyondBounds(text);
  if (refused !== undefined) return { refused, isTooLarge: true };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { refused: 'a body that is not JSON', isTooLarge: false };
  }
}

/** One step a character at most. Of what is no JSON it may say either. */
function beyondBounds(text: string): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (CLOSING.has(code)) depth -= 1;
    else if (OPENING.has(code) || code === COMMA) {
      values += 1;
      if (code !== COMMA) depth += 1;
      if (depth > MAX_DEPTH) return `JSON of more than ${MAX_DEPTH} levels`;
      if (values > MAX_VALUES) return `JSON of more than ${MAX_VALUES} values`;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
