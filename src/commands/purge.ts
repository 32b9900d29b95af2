import { loadSettings } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { openStore } from '../stores/registry.ts';
import type { CommandArgs } from './command.ts';

/** Removes a viewer's feeds from the store that the settings name. @throws ConfigError, StoreUnavailableError */
export async function purge({ flags, env, cwd, stdout }: CommandArgs): Promise<number> {
  const settings = (await loadSettings({ file: flags.config, cwd, env }))?.settings;
  if (!settings) throw new ConfigError(`no sluice.config.* in ${cwd}: purge needs the settings that name the store`);
  const store = await openStore(settings.store);
  try {
    const viewer = flags.viewer ?? '';
    const removed = await store.feeds.purge(viewer);
    stdout(
      `removed ${removed} feed instance${removed === 1 ? '' : 's'} of ${JSON.stringify(viewer)}; old cursors behave as gone`,
    );
    return 0;
  } finally {
    await store.close();
  }
}
