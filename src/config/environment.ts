import { ConfigError } from '../errors.ts';
import { listenHost } from './rules.ts';
import { pathLabel, valueLabel } from './words.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings in which every `${NAME}` is replaced, and which values came from where. */
export interface Substituted {
  readonly value: unknown;
  /** The variable's name by the path of the value, as `pathLabel` gives it. */
  readonly origins: ReadonlyMap<string, string>;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** No setting lies deeper; what does is refused by the schema as it is. */
const MAX_DEPTH = 8;

/** What stands for an environment variable until the settings are checked, so that the error can name the setting. */
export function placeholder(name: string): string {
  return `\${${name}}`;
}

/** Replaces each text that is `${NAME}` as a whole. @throws ConfigError for a variable that is not set, and for `${…}` inside a text. */
export function substitute(raw: unknown, env: Environment): Substituted {
  const origins = new Map<string, string>();

  function walk(value: unknown, path: readonly string[]): unknown {
    if (typeof value === 'string') return replace(value, path);
    if (path.length > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, String(index)]));
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(
      entriesOf(value, path).map(([key, item]) => {
        // A record skips this key in silence, and a typo must not be skipped.
        if (key === '__proto__') throw new ConfigError(`${pathLabel([...path, key])}: unknown key`);
        return [key, walk(item, [...path, key])];
      }),
    );
  }

  function replace(value: string, path: readonly string[]): string {
    if (!value.includes('${')) return value;
    const name = /^\$\{([^{}]*)\}$/.exec(value)?.[1];
    if (name === undefined || !NAME.test(name)) {
      throw new ConfigError(`${pathLabel(path)}: required \${NAME} as the whole text, with the name of a variable`);
    }
    const found = env[name];
    if (found === undefined) throw new ConfigError(`${pathLabel(path)}: ${name} is not set`);
    if (found === '') throw new ConfigError(`${pathLabel(path)}: ${name} is empty`);
    origins.set(pathLabel(path), name);
    return found;
  }

  return { value: walk(raw, []), origins };
}

/** What PORT and HOST say about where to listen. @throws ConfigError */
export function listenOverrides(env: Environment): { port?: number; host?: string } {
  const { PORT, HOST } = env;
  if (PORT !== undefined && (!/^(0|[1-9]\d{0,4})$/.test(PORT) || Number(PORT) > 65_535)) {
    throw new ConfigError(`PORT: required a whole number 0 to 65535, got ${valueLabel(PORT)}`);
  }
  if (HOST !== undefined && !listenHost.safeParse(HOST).success) {
    throw new ConfigError(`HOST: required a host name or an IP address, got ${valueLabel(HOST)}`);
  }
  return { ...(PORT === undefined ? {} : { port: Number(PORT) }), ...(HOST === undefined ? {} : { host: HOST }) };
}

/** Settings in code may hold getters: what these throw is shown with the line it stands on, which may be a secret's. */
function entriesOf(value: Record<string, unknown>, path: readonly string[]): [string, unknown][] {
  try {
    return Object.entries(value);
  } catch {
    throw new ConfigError(`${pathLabel(path)}: it threw when it was read`);
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
