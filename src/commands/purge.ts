import { systemClock } from '../clock.ts';
import { loadSettings } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { purgeSource } from '../kept-logs.ts';
import { buildSources } from '../sources.ts';
import { openStore } from '../stores/registry.ts';
import { createHttpClient } from '../upstreams/http.ts';
import type { CommandArgs } from './command.ts';

/**
 * Removes a viewer's feeds, or all that a source brought, from the store that the settings name. Asks no upstream.
 * @throws ConfigError, StoreUnavailableError
 */
export async function purge({ flags, env, cwd, stdout, version }: CommandArgs): Promise<number> {
  const settings = (await loadSettings({ file: flags.config, cwd, env }))?.settings;
  if (!settings) throw new ConfigError(`no sluice.config.* in ${cwd}: purge needs the settings that name the store`);
  const store = await openStore(settings.store);
  const http = createHttpClient({ version, clock: systemClock });
  try {
    if (flags.source) {
      const sources = buildSources(settings, { http, clock: systemClock });
      const isDropped = await purgeSource(flags.source, { ...store, sources });
      stdout(isDropped ? `removed all that ${flags.source} brought` : `nothing of ${flags.source} was left`);
      return 0;
    }
    const viewer = flags.viewer ?? '';
    const removed = await store.feeds.purge(viewer);
    stdout(
      `removed ${removed} feed instance${removed === 1 ? '' : 's'} of ${JSON.stringify(viewer)}; old cursors behave as gone`,
    );
    return 0;
  } finally {
    await Promise.all([store.close(), http.close()]);
  }
}
