import type { IdScheme } from '../ids/id-scheme.ts';

/** How the ids of one timeline stand above each other: by the scheme's order keys, or, of opaque ids, by their places in a reply. */
export interface ListOrder {
  /** The newest first; opaque ids as they stood. */
  sort(ids: Iterable<string>): readonly string[];
  /** Tells which ids stand at or below `id`; of opaque ids only `id` itself is known to. */
  isFrom(id: string): (other: string) => boolean;
  /** Tells which ids stand above `id`, which is in the list. */
  isAbove(list: readonly string[], id: string): (other: string) => boolean;
}

export function listOrder(scheme: IdScheme): ListOrder {
  return scheme.name === 'opaque' ? byPlace : byOrderKey(scheme);
}

function byOrderKey({ orderKey }: IdScheme): ListOrder {
  return {
    sort: (ids) =>
      [...ids]
        .map((id) => ({ id, key: orderKey(id) }))
        .sort((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0))
        .map(({ id }) => id),
    isFrom(id) {
      const key = orderKey(id);
      return (other) => orderKey(other) <= key;
    },
    isAbove(_list, id) {
      const key = orderKey(id);
      return (other) => orderKey(other) > key;
    },
  };
}

const byPlace: ListOrder = {
  sort: (ids) => [...ids],
  isFrom: (id) => (other) => other === id,
  isAbove(list, id) {
    const above = new Set(list.slice(0, list.indexOf(id)));
    return (other) => above.has(other);
  },
};

/** The part of a list above `sinceId` and below `next`, as a server answers that heeds both. */
export function cut(
  order: ListOrder,
  list: readonly string[],
  { sinceId, next }: { sinceId?: string | undefined; next?: string | undefined },
): readonly string[] {
  const end = sinceId === undefined ? -1 : list.findIndex(order.isFrom(sinceId));
  const upper = end < 0 ? list : list.slice(0, end);
  if (next === undefined) return upper;
  const from = upper.findIndex(order.isFrom(next));
  return from < 0 ? [] : upper.slice(upper[from] === next ? from + 1 : from);
}
