import { ConfigError } from '../errors.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Store } from './store.ts';

/** Where things are kept, as the settings have it: `sqlite:PATH` or `sqlite::memory:`. */
export type StoreSpec =
  | string
  | { readonly kind: string }
  | { readonly feeds: StoreSpec; readonly timelines: StoreSpec };

/**
 * Opens the store that the settings name; adding a kind is one file and one line here.
 * Throws ConfigError, whose message never holds more of the spec than its kind: a URL may carry a password.
 */
export async function openStore(spec: StoreSpec): Promise<Store> {
  const kind = kindOf(spec);
  if (kind === 'sqlite' && typeof spec === 'string') return openSqliteStore({ file: spec.slice('sqlite:'.length) });
  if (LATER.has(kind)) {
    throw new ConfigError(
      `store: this release has the embedded store only, got ${kind}; Redis comes with a later one: use sqlite:PATH`,
    );
  }
  throw new ConfigError(`store: required sqlite:PATH or sqlite::memory:, got ${kind === '' ? 'no kind' : kind}`);
}

const LATER = new Set(['redis', 'rediss', 'sentinel', 'cluster', 'feeds and timelines']);

function kindOf(spec: StoreSpec): string {
  if (typeof spec === 'string') return /^[a-z][a-z0-9+-]*(?=:)/i.exec(spec)?.[0].toLowerCase() ?? '';
  return 'kind' in spec ? spec.kind : 'feeds and timelines';
}
