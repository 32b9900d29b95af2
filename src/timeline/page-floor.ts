import type { IdScheme } from '../ids/id-scheme.ts';

/**
 * The lowest id of a reply, which everything above is in the reply too, or was on a page before. Ids at the top that lie
 * below the last one are out of order (pinned posts) and do not count. Undefined where no id has the scheme's form;
 * for opaque ids the last one.
 */
export function pageFloor(ids: readonly string[], scheme: IdScheme): string | undefined {
  if (scheme.name === 'opaque') return ids.at(-1);
  const keyed = ids.filter((id) => scheme.includes(id)).map((id) => ({ id, key: scheme.orderKey(id) }));
  const last = keyed.at(-1);
  if (last === undefined) return undefined;
  const inOrder = keyed.slice(keyed.findIndex(({ key }) => key >= last.key));
  return inOrder.reduce((low, next) => (next.key < low.key ? next : low)).id;
}
