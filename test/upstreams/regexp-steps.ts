/**
 * A backtracking matcher that counts: how many characters a regular expression looks at, and how often it goes on behind a
 * repeat. As V8's does without its shortcuts, so that what is linear here is linear there.
 */

interface Item {
  readonly atom: Atom;
  readonly min: number;
  readonly max: number;
  readonly lazy: boolean;
}
type Branches = readonly (readonly Item[])[];
type Atom =
  | { readonly kind: 'char'; readonly fits: (char: string) => boolean }
  | { readonly kind: 'group'; readonly branches: Branches }
  | { readonly kind: 'look'; readonly branches: Branches; readonly negative: boolean }
  | { readonly kind: 'edge'; readonly holds: (text: string, at: number) => boolean };
type Goes = (at: number) => boolean;

const parsed = new Map<string, Branches>();

/** The steps of one search in `text` from `from` on. Throws Error on syntax that no pattern of ours has: look-behind, back-references. */
export function searchSteps(regexp: RegExp, text: string, from: number): number {
  const key = String(regexp);
  const branches = parsed.get(key) ?? parse(regexp);
  parsed.set(key, branches);
  let steps = 0;

  function matchBranches(branches: Branches, at: number, next: Goes): boolean {
    return branches.some((items) => matchItems(items, 0, at, next));
  }

  function matchItems(items: readonly Item[], n: number, at: number, next: Goes): boolean {
    const item = items[n];
    steps += 1;
    if (!item) return next(at);
    return repeat(item, at, (after) => matchItems(items, n + 1, after, next));
  }

  function repeat(item: Item, at: number, next: Goes): boolean {
    const { atom, min, max, lazy } = item;
    if (atom.kind === 'char') {
      let most = 0;
      const limit = lazy ? min : max;
      const take = () => {
        steps += 1;
        return at + most < text.length && atom.fits(text[at + most] ?? '') && ++most > 0;
      };
      while (most < limit && take());
      if (most < min) return false;
      if (lazy) {
        for (;;) {
          if (next(at + most)) return true;
          if (most >= max || !take()) return false;
        }
      }
      for (let count = most; count >= min; count--) if (next(at + count)) return true;
      return false;
    }
    return repeatGroup(item, at, 0, next);
  }

  function repeatGroup(item: Item, at: number, count: number, next: Goes): boolean {
    const again = () =>
      count < item.max &&
      once(item.atom, at, (after) => (after > at || count < item.min) && repeatGroup(item, after, count + 1, next));
    if (count < item.min) return again();
    return item.lazy ? next(at) || again() : again() || next(at);
  }

  function once(atom: Atom, at: number, next: Goes): boolean {
    steps += 1;
    if (atom.kind === 'char') return atom.fits(text[at] ?? '') && next(at + 1);
    if (atom.kind === 'group') return matchBranches(atom.branches, at, next);
    if (atom.kind === 'look') return matchBranches(atom.branches, at, () => true) !== atom.negative && next(at);
    return atom.holds(text, at) && next(at);
  }

  const isAnchored = regexp.sticky || regexp.source.startsWith('^');
  for (let at = from; at <= text.length; at++) {
    if (matchBranches(branches, at, () => true) || isAnchored) break;
  }
  return steps;
}

function parse(regexp: RegExp): Branches {
  const { source } = regexp;
  const flags = regexp.flags.replace(/[gyd]/g, '');
  let at = 0;

  function readBranches(): Branches {
    const branches: Item[][] = [[]];
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at += 1;
        branches.push([]);
      } else branches.at(-1)?.push(readItem());
    }
    return branches;
  }

  function readItem(): Item {
    const atom = readAtom();
    const [all = '', low, comma, high] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(source.slice(at)) ?? [];
    at += all.length;
    const lazy = all !== '' && source[at] === '?';
    if (lazy) at += 1;
    const [min, max] = { '': [1, 1], '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[all] ?? [
      Number(low),
      comma ? Number(high || Infinity) : Number(low),
    ];
    return { atom, min: min ?? 0, max: max ?? 0, lazy };
  }

  function readAtom(): Atom {
    const group = /^\((\?:|\?=|\?!|\?<\w+>)?/.exec(source.slice(at));
    if (group) {
      at += group[0].length;
      if (source[at] === '?') throw new Error(`${source}: not counted`);
      const branches = readBranches();
      at += 1;
      const isLook = group[1] === '?=' || group[1] === '?!';
      return isLook ? { kind: 'look', branches, negative: group[1] === '?!' } : { kind: 'group', branches };
    }
    const [char = ''] =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Z]|\\.|.)/s.exec(
        source.slice(at),
      ) ?? [];
    at += char.length;
    if (/^\\[1-9k]$/.test(char)) throw new Error(`${source}: not counted`);
    if (char === '^') return { kind: 'edge', holds: (_, place) => place === 0 };
    if (char === '$') return { kind: 'edge', holds: (text, place) => place === text.length };
    if (char === '\\b')
      return { kind: 'edge', holds: (text, place) => isWord(text[place - 1]) !== isWord(text[place]) };
    const one = new RegExp(`^${char}$`, flags);
    const known = new Map<string, boolean>();
    const fits = (unit: string) => {
      const fit = known.get(unit) ?? one.test(unit);
      known.set(unit, fit);
      return fit;
    };
    return { kind: 'char', fits };
  }

  return readBranches();
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /\w/.test(char);
}
