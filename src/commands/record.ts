import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { loadSettings } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { buildSources } from '../sources.ts';
import { createHttpClient } from '../upstreams/http.ts';
import { formatRecording } from '../upstreams/recording.ts';
import type { CommandArgs } from './command.ts';

/** Saves the replies that a source gives to its description and to `--pages` pages, one file each. @throws ConfigError, UpstreamError */
export async function record({ flags, env, cwd, version, stdout }: CommandArgs): Promise<number> {
  const loaded = await loadSettings({ file: flags.config, cwd, env });
  if (loaded === undefined) throw new ConfigError(`no sluice.config.* in ${cwd}`);
  const { settings } = loaded;
  const key = (flags.source ?? '').replace(/^source:/, '');

  const replies: { name: string; text: string }[] = [];
  const http = createHttpClient({
    version,
    clock: systemClock,
    onReply: (request, reply) => {
      replies.push({ name: recordingName(request.url), text: formatRecording(request, reply) });
    },
  });
  const save = createSaver(resolve(cwd, flags.out ?? ''), replies, stdout);
  try {
    const source = buildSources(settings, { http, clock: systemClock }).find((candidate) => candidate.key === key);
    if (source === undefined) {
      throw new ConfigError(
        `--source: required one of ${settings.sources.map((one) => one.key).join(', ')}, got ${key}`,
      );
    }
    await source.upstream.describe().finally(save);
    let next: string | undefined;
    for (let page = 0; page < (flags.pages ?? 1) && (page === 0 || next !== undefined); page += 1) {
      ({ next } = await source.upstream.readPage({ next }).finally(save));
    }
    return 0;
  } finally {
    await http.close();
  }
}

/**
 * Gives what writes down and forgets the replies so far, numbered on from what the folder holds. Never overwrites.
 * @throws ConfigError, as does what it gives, when the folder cannot be written to
 */
function createSaver(dir: string, replies: { name: string; text: string }[], stdout: (line: string) => void) {
  tryOut(dir, () => mkdirSync(dir, { recursive: true }));
  let number = Math.max(0, ...tryOut(dir, () => readdirSync(dir)).map(numberOf));
  return () => {
    for (const { name, text } of replies.splice(0)) {
      number += 1;
      const file = join(dir, `${String(number).padStart(3, '0')}-${name}.json`);
      tryOut(dir, () => writeFileSync(file, text, { flag: 'wx' }));
      stdout(`saved ${file}`);
    }
  };
}

function numberOf(fileName: string): number {
  return Number(/^(\d{1,9})-/.exec(fileName)?.[1] ?? 0);
}

function tryOut<T>(dir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`--out: required a folder that can be written to, got ${dir} (${code})`);
  }
}

/** What a reply is about, for its file's name: `api-v1-timelines-home`. */
function recordingName(url: URL): string {
  const name = url.pathname.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '');
  return name.slice(0, 60) || 'root';
}
