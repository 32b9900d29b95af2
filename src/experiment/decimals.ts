/** Orders decimal ids as numbers, without making any of them a number. */
export function compareDecimals(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
