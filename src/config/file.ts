import { lstatSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../errors.ts';
import { brokenJsonLine } from './json-line.ts';
import { pathLabel } from './words.ts';

const NAMES = ['sluice.config.ts', 'sluice.config.js', 'sluice.config.json'];

/**
 * The settings file to read: the named one, else the one in `cwd`; undefined when there is none.
 * @throws ConfigError when the named file is missing, or when several lie in `cwd`.
 */
export function findSettingsFile(cwd: string, named: string | undefined): string | undefined {
  if (named !== undefined) {
    const file = resolve(cwd, named);
    if (!isThere(file)) throw new ConfigError(`${named}: no such settings file`);
    return file;
  }
  const [found, ...more] = NAMES.filter((name) => isThere(resolve(cwd, name)));
  if (more.length > 0)
    throw new ConfigError(`required one settings file in ${cwd}, got ${[found, ...more].join(', ')}`);
  return found === undefined ? undefined : resolve(cwd, found);
}

/** A link that leads nowhere is there, too: it must not be taken for no settings, and the demo be started. */
function isThere(file: string): boolean {
  try {
    return Boolean(lstatSync(file));
  } catch {
    return false;
  }
}

/** What the file holds, not yet checked. @throws ConfigError with the file's name and, where it is known, the line. */
export async function readSettingsFile(file: string): Promise<unknown> {
  if (/\.json$/i.test(file)) return readJson(file);
  if (/\.[cm]?[jt]s$/i.test(file)) return readModule(file);
  throw new ConfigError(`${basename(file)}: required a .ts, .js or .json file`);
}

function readJson(file: string): unknown {
  const text = readText(file).replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError(`${basename(file)}: not JSON, see line ${brokenJsonLine(text)}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${basename(file)}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function readModule(file: string): Promise<unknown> {
  const ours = new URL('../config.ts', import.meta.url).href;
  // Lets a settings file in any folder import `sluice/config`, with no package installed beside it.
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'sluice/config' ? { url: ours, shortCircuit: true } : next(specifier, context),
  });
  const { promise: neverEnds, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new ConfigError(`${basename(file)}: it never ends: it awaits what cannot come`));
  // Node would end without a word, as if all had been well.
  process.once('beforeExit', giveUp);
  let loaded: { default?: unknown };
  try {
    loaded = await Promise.race([import(pathToFileURL(file).href), neverEnds]);
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError(`${basename(file)}: ${whatWasThrown(error, file)}`);
  } finally {
    process.off('beforeExit', giveUp);
    hooks.deregister();
  }
  if (loaded.default === undefined) {
    throw new ConfigError(`${basename(file)}: required the settings as its default export, got ${exportsOf(loaded)}`);
  }
  return loaded.default;
}

function exportsOf(loaded: object): string {
  const names = Object.keys(loaded);
  return names.length === 0 ? 'no exports' : `the exports ${names.map((name) => pathLabel([name])).join(', ')}`;
}

/** The error's name, line and first line: never the lines of the file that a syntax error shows, which may hold a secret. */
function whatWasThrown(error: unknown, file: string): string {
  if (!(error instanceof Error)) return 'it threw something that is no Error';
  const line = new RegExp(`${RegExp.escape(basename(file))}:(\\d+)`).exec(error.stack ?? '')?.[1];
  const [first = ''] = String(error.message).split('\n');
  return `${error.name}${line === undefined ? '' : ` at line ${line}`}: ${first.slice(0, 300)}`;
}
