import { readFileSync } from 'node:fs';

export type JsonObject = Readonly<Record<string, unknown>>;

/** One recorded reply. `body` is a list of statuses, or a Twitter 2 page. */
export interface Recording {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Reads `recordings/<name>.json`. */
export function readRecording(name: string): Recording {
  return JSON.parse(readFileSync(new URL(`./recordings/${name}.json`, import.meta.url), 'utf8'));
}
