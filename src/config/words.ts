/** Longer texts may be secrets at the wrong place: their length is told instead. */
const MAX_SHOWN = 24;

/** The path of a setting as people write it: `sources.home.token`; `settings` for the whole. */
export function pathLabel(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'settings' : path.map((key) => keyLabel(String(key))).join('.');
}

/** A key of the settings; one that is too long for a name may be a secret. */
export function keyLabel(key: string): string {
  return /^[\w.-]{1,64}$/.test(key) ? key : `[a key of ${key.length} characters]`;
}

/** What came, without anything that could be a secret: `"80o0"`, `a text of 43 characters`, `a list of 2`. */
export function valueLabel(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return textLabel(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return /^[aeiou]/.test(typeof value) ? `an ${typeof value}` : `a ${typeof value}`;
}

/** What came where a secret belongs. */
export function secretLabel(value: unknown): string {
  if (value === undefined || value === null) return valueLabel(value);
  return typeof value === 'string' ? `a secret of ${value.length} characters` : '[secret]';
}

function textLabel(value: string): string {
  if (value === '') return 'an empty text';
  if (value.includes('://')) return urlLabel(value);
  return value.length <= MAX_SHOWN ? JSON.stringify(value) : `a text of ${value.length} characters`;
}

function urlLabel(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const shown = url?.hostname.split('.').every((label) => label.length <= MAX_SHOWN) ? url : undefined;
  if (!shown) return `a text of ${value.length} characters`;
  const rest = value.replace(/^[^:]*:\/\//, '') === shown.host ? '' : '/…';
  return `"${shown.protocol}//${shown.host}${rest}"`;
}
