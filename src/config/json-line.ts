const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/y;

type Wanted = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end';

/**
 * The line, from 1, on which a text stops being JSON; for a text that ends too early its last line.
 * JSON.parse tells a position only for some errors, and shows the text around it, which may hold a secret.
 */
export function brokenJsonLine(text: string): number {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  let end = 0;

  for (;;) {
    TOKEN.lastIndex = end;
    const match: RegExpExecArray | null = TOKEN.exec(text);
    if (!match) break;
    const next = accept(wanted, match[1] ?? (match[2] === undefined ? 'atom' : 'string'), open);
    if (next === undefined) break;
    end = TOKEN.lastIndex;
    wanted = next;
  }
  const broken = end + (/^[ \t\r\n]*/.exec(text.slice(end))?.[0].length ?? 0);
  return text.slice(0, Math.min(broken, text.trimEnd().length)).split('\n').length;
}

/** What may come after this token; undefined when the token may not come here. Keeps `open` up to date. */
function accept(wanted: Wanted, token: string, open: ('{' | '[')[]): Wanted | undefined {
  if (wanted === ':') return token === ':' ? 'value' : undefined;
  if (wanted === ', or end') {
    if (token === ',' && open.length > 0) return open.at(-1) === '{' ? 'key' : 'value';
    return closes(token, open) ? ', or end' : undefined;
  }
  if (wanted === 'key' || wanted === 'key or }') {
    if (token === 'string') return ':';
    return wanted === 'key or }' && closes(token, open) ? ', or end' : undefined;
  }
  if (token === 'string' || token === 'atom') return ', or end';
  if (token === '{' || token === '[') {
    open.push(token);
    return token === '{' ? 'key or }' : 'value or ]';
  }
  return wanted === 'value or ]' && closes(token, open) ? ', or end' : undefined;
}

function closes(token: string, open: ('{' | '[')[]): boolean {
  const fits = (token === '}' && open.at(-1) === '{') || (token === ']' && open.at(-1) === '[');
  if (fits) open.pop();
  return fits;
}
