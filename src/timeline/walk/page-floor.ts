import type { IdScheme } from '../../ids/id-scheme.ts';

/**
 * The lowest order key of a reply whose ids have an order: everything above is in the reply too, or was on a page before. Ids
 * at the top that lie below the last one are out of order (pinned posts) and do not count. Undefined where no id has the scheme's form.
 */
export function pageFloor(ids: readonly string[], scheme: IdScheme): string | undefined {
  const keys = ids.filter((id) => scheme.includes(id)).map((id) => scheme.orderKey(id));
  const last = keys.at(-1);
  if (last === undefined) return undefined;
  const inOrder = keys.slice(keys.findIndex((key) => key >= last));
  return inOrder.sort()[0];
}
