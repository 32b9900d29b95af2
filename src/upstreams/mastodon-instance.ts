import { UpstreamError } from '../errors.ts';
import type { Query } from './client.ts';
import { instance, nodeInfo, nodeInfoLinks } from './mastodon-schema.ts';

/** What runs there: `{ name: 'mastodon', version: '4.3.1' }`. Visible ASCII, at most 100 characters each. */
export interface Software {
  readonly name: string;
  readonly version?: string | undefined;
}

/** Asks for a path of the server; gives the JSON of its reply. Throws UpstreamError. */
type Ask = (path: string, query?: Query) => Promise<unknown>;

/**
 * The software of a server: from its instance document (version 2, else 1), else from nodeinfo; absent when it does not tell.
 * Throws UpstreamError when it told nothing and did not answer somewhere: then it may tell later.
 */
export async function identifySoftware(ask: Ask): Promise<Software | undefined> {
  let failure: UpstreamError | undefined;
  let guess: Software | undefined;
  const read: Ask = (path, query) =>
    ask(path, query).catch((error: unknown) => {
      if (!(error instanceof UpstreamError)) throw error;
      // Without any answer, or without budget, the next document would not come either.
      if (error.status === undefined || error.code === 'RATE_LIMITED') throw error;
      if (error.code === 'UNAVAILABLE') failure ??= error;
      return undefined;
    });

  for (const path of ['/api/v2/instance', '/api/v1/instance']) {
    const document = instance.safeParse(await read(path));
    const software = document.success ? readVersion(document.data.version, document.data.source_url) : undefined;
    if (software?.surely) return software.software;
    guess ??= software?.software;
  }
  const software = await readNodeInfo(read);
  if (software) return software;
  if (failure) throw failure;
  return guess;
}

/** Projects whose repository has the software's name; a fork may call its own what it likes. */
const REPOSITORIES = ['mastodon', 'hometown', 'gotosocial', 'hollo', 'pixelfed', 'takahe'];

/**
 * Servers that only speak Mastodon's API say so in their version, in forms such as `2.7.2 (compatible; Pleroma 2.5.0)`,
 * `4.0.0 (not true; really snac/2.94)` or `takahe/0.9.0`; others have only their repository's name to tell them by,
 * which is a guess (not `surely`) where no software is known under it.
 */
export function readVersion(
  version: string | undefined,
  sourceUrl: string | undefined,
): { readonly software: Software; readonly surely: boolean } | undefined {
  if (!version) return undefined;
  const named =
    /\([^()]*?([a-z][\w.-]*)[ /]v?(\d[^\s()]*)[^()]*\)/i.exec(version) ?? /^([a-z][\w.-]*)[ /]v?(\d\S*)/i.exec(version);
  const told = named && softwareOf(named[1] ?? '', named[2]);
  if (told) return { software: told, surely: true };
  const path = URL.parse(sourceUrl ?? '')?.pathname;
  const name = path
    ?.split('/')
    .findLast(Boolean)
    ?.toLowerCase()
    .replace(/\.git$/, '');
  const software = softwareOf(name ?? '', version.split(/\s/)[0]);
  return software && { software, surely: REPOSITORIES.includes(software.name) };
}

/** Mastodon itself and the forks that keep its ids, feeds and throttles. */
export function isMastodonProper(software: Software | undefined): boolean {
  return software !== undefined && ['mastodon', 'glitch', 'glitch-soc', 'hometown'].includes(software.name);
}

/** True when the version is at least `major.minor`. */
export function isAtLeast(software: Software, major: number, minor: number): boolean {
  const parts = /^(\d{1,4})\.(\d{1,4})/.exec(software.version ?? '');
  if (!parts) return false;
  const difference = Number(parts[1]) - major || Number(parts[2]) - minor;
  return difference >= 0;
}

async function readNodeInfo(read: Ask): Promise<Software | undefined> {
  const links = nodeInfoLinks.safeParse(await read('/.well-known/nodeinfo'));
  if (!links.success) return undefined;
  const link = links.data.links.findLast(({ rel }) => rel?.startsWith('http://nodeinfo.diaspora.software/ns/schema/'));
  // Only its path: what another origin says is not this server's word.
  const target = link && URL.parse(link.href, 'http://localhost/');
  if (!target || !/^https?:$/.test(target.protocol)) return undefined;
  const document = nodeInfo.safeParse(await read(target.pathname, [...target.searchParams]));
  if (!document.success) return undefined;
  const { name, version } = document.data.software;
  return softwareOf(name, version);
}

/** It is shown to viewers and operators: nothing but visible ASCII and single spaces of what a server says. */
function softwareOf(name: string, version: string | undefined): Software | undefined {
  const shown = (text: string) =>
    text
      .replace(/[^\x21-\x7e]+/g, ' ')
      .trim()
      .slice(0, 100);
  const plain = shown(name).toLowerCase();
  return plain === '' ? undefined : { name: plain, version: version && shown(version) };
}
