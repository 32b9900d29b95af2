/**
 * One spelling a text, in which no `{`, `}`, `:`, space or line break stands, so that it can neither end a hash tag nor make another's key.
 * Letters, digits, `-`, `_`, `.` stay; the rest is percent-encoded UTF-8, half a surrogate pair `%uD800`, an empty text `%`.
 */
export function keyPart(text: string): string {
  if (text === '') return '%';
  if (/^[\w.-]+$/.test(text)) return text;
  return text.replace(/[\ud800-\udbff][\udc00-\udfff]|[^\w.-]/g, (character) => {
    const code = character.charCodeAt(0);
    // Every post id has an `@`: the usual case, without a Buffer.
    if (code < 0x80) return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    if (!character.isWellFormed()) return `%u${code.toString(16).toUpperCase()}`;
    return Buffer.from(character).reduce(
      (all, byte) => `${all}%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
      '',
    );
  });
}

/** The text that `keyPart` spelled. */
export function textOfKeyPart(part: string): string {
  if (part === '%') return '';
  return part.replace(
    /%u([0-9A-F]{4})|((?:%[0-9A-F]{2})+)/g,
    (_, half: string | undefined, bytes: string | undefined) =>
      half === undefined
        ? Buffer.from((bytes ?? '').replaceAll('%', ''), 'hex').toString()
        : String.fromCharCode(Number.parseInt(half, 16)),
  );
}

/** The names of all keys. What stands in braces names the slot: all of one viewer lie in one, and all of one log. */
export interface RedisKeys {
  /** Before the feedId of one of this viewer's instances, and before `current`. */
  feeds(viewerId: string): string;
  /** The hash of all logs. */
  readonly logs: string;
  /** Before the names of a log's parts, such as `state`. */
  log(logId: string): string;
  /** Before the hash of a reference. */
  readonly references: string;
  /** Before the keyPart of a post id. */
  readonly posts: string;
  lease(name: string): string;
  note(name: string): string;
  quota(name: string): string;
  secret(name: string): string;
  /** Before the parts of the id service, all in one slot. */
  readonly generators: string;
}

/** `prefix` lets several deployments share one Redis; it holds no braces. */
export function redisKeys(prefix: string): RedisKeys {
  return {
    feeds: (viewerId) => `${prefix}{${keyPart(viewerId)}}:HOMEPAGE:`,
    logs: `${prefix}LOGS`,
    log: (logId) => `${prefix}{${keyPart(logId)}}:LOG:`,
    references: `${prefix}post:`,
    posts: `${prefix}body:`,
    note: (name) => `${prefix}NOTE:${keyPart(name)}`,
    quota: (name) => `${prefix}QUOTA:${keyPart(name)}`,
    lease: (name) => `${prefix}LEASE:${keyPart(name)}`,
    generators: `${prefix}{ids}:GENERATORS:`,
    secret: (name) => `${prefix}SECRET:${keyPart(name)}`,
  };
}
