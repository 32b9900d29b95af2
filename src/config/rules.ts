import { isIP } from 'node:net';
import { z } from 'zod';

/** A whole number from `min` to `max`, both inclusive. */
export function whole(min: number, max: number) {
  const error = `required a whole number ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A text that `holds`; every other value is told by the one sentence `required …`. */
export function text(error: string, holds: (value: string) => boolean) {
  return z.string({ error }).refine(holds, { error });
}

/** An object of exactly these keys; the error for another key lists them. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `unknown key, known here: ${known}` : undefined),
  });
}

/** Whom a viewer is: 1 to 256 characters, none of them a control character. */
export const userId = text('required a user id of 1 to 256 characters', (value) => isPlain(value, 256));

/** The id or name of something on the upstream: a segment of a path, which `.` and `..` cannot be. */
export const upstreamName = (what: string) =>
  text(
    `required ${what} of 1 to 256 characters`,
    (value) => isPlain(value, 256) && value.trim() !== '' && !/^\.{1,2}$/.test(value),
  );

/** Goes into an Authorization header as it is. */
export const token = text('required a token of 1 to 4096 visible ASCII characters', (value) =>
  /^[\x21-\x7e]{1,4096}$/.test(value),
);

/** What a server listens on. */
export const listenHost = text('required a host name or an IP address', isHost);

/** A network's identity as it stands in post ids: lower case, with the port where it is not the scheme's own. */
export const identityHost = text('required a host name in lower case, with or without a port', (value) => {
  const [, host = '', port] = /^(.+?)(?::(\d{1,5}))?$/.exec(value) ?? [];
  return isHost(host.replace(/^\[(.*)\]$/, '$1')) && host === host.toLowerCase() && Number(port ?? 0) <= 65535;
});

/** A base URL: `http:` or `https:`, nothing secret or variable in it. Whether `http:` will do is the source's business. */
export const baseUrl = text(
  'required an http(s) URL without credentials, query or fragment',
  (value) => parseBaseUrl(value) !== undefined,
);

/** A browser's origin, exactly as browsers write it. */
export const origin = z
  .string({ error: 'required an origin such as https://app.example' })
  .refine((value) => parseBaseUrl(value)?.origin === value, {
    error: ({ input }) =>
      input === '*'
        ? "'*' is refused, for any web page could then read what the viewer may see: name the origins, such as https://app.example"
        : 'required an origin such as https://app.example, without a path',
  });

/** An IP address, or a range of them in CIDR form. */
export const peer = text('required an IP address or a CIDR range such as 10.0.0.0/8', (value) => {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const version = isIP(address);
  // Of `::ffff:10.0.0.0/104` nobody can tell at sight what it holds: IPv4 is written as IPv4.
  if (bits !== undefined && /^::ffff:\d+\./i.test(address)) return false;
  return version !== 0 && Number(bits ?? 0) <= (version === 4 ? 32 : 128);
});

/** The URL when it is one that `baseUrl` takes. */
export function parseBaseUrl(value: string): URL | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || value !== value.trim() || /[?#\\\s]/.test(value) || url.username !== '' || url.password !== '') return;
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}

/** True for a host name (as in a URL) that never leaves this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 4) return bare.startsWith('127.');
  return bare === '::1' || bare === 'localhost' || bare.endsWith('.localhost');
}

/** True when the value is 1 to `max` characters long, well-formed Unicode without control characters. */
export function isPlain(value: string, max: number): boolean {
  return value.length > 0 && value.length <= max && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

function isHost(value: string): boolean {
  if (isIP(value) !== 0) return true;
  return value.length <= 253 && /^[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*$/i.test(value);
}
