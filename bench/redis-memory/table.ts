import { short } from '../side-by-side.ts';
import type { InstanceBytes } from './instance-bytes.ts';
import { JSON_1H, type Result } from './variants.ts';

const NAMES = {
  instance: 'the instance',
  current: '`current`: the alias, and which instances live',
  all: 'both, every key that is written for it',
  used: 'what goes of used_memory with both, tables included',
  reference: 'beside, shared by all: a reference, `post:<hash>`',
} as const;

/** What the keys of one instance take. */
export function instanceRows(each: InstanceBytes): readonly (readonly string[])[] {
  return Object.entries(NAMES).map(([key, name]) => [name, short(each[key as keyof InstanceBytes])]);
}

/** Of `rowsOf`. */
export const HEAD = [
  'kept as',
  'viewers loaded',
  'scale',
  'bytes an instance',
  'MB, mean',
  'MB, peak',
  'used_memory MB, mean',
  `beside ${JSON_1H}`,
  'later pages',
  'ended dead',
  'repeat a story',
  'late ms, p99',
];

/** A row each way of keeping. */
export function rowsOf(results: readonly Result[]): readonly (readonly string[])[] {
  const json = results.find(({ variant }) => variant.name === JSON_1H);
  return results.map((result) => rowOf(result, json));
}

function rowOf(result: Result, json: Result | undefined): readonly string[] {
  const { variant, loaded, scale, instanceBytes, mean, peak, used, day } = result;
  const share = (count: number) => `${short((100 * count) / Math.max(1, day.laterPages))} %`;
  return [
    variant.name,
    loaded.toLocaleString('en'),
    `${short(scale)} x`,
    Math.round(instanceBytes).toLocaleString('en'),
    short(mean / 1e6),
    short(peak / 1e6),
    short(used / 1e6),
    `${short(mean / (json?.mean ?? Number.NaN))} x`,
    day.laterPages.toLocaleString('en'),
    share(day.dead),
    share(day.repeated),
    short(day.lateMs),
  ];
}

/** What a reader of the figures has to know. */
export function notesOf(viewers: number, minutes: number, results: readonly Result[]): readonly string[] {
  const [ours] = results.filter(({ variant }) => variant.isOurs);
  const scaled = results
    .filter(({ scale }) => scale > 1)
    .map(({ variant, loaded, why }) => `${variant.name}: ${loaded.toLocaleString('en')} (${why.join('; ')}).`);
  return [
    `${viewers.toLocaleString('en')} viewers with 3 generations a day each, of which 30 % ask page 2, 30 % of those page 3, and 10 % of all come back 3 h after their last page to go on. A next page comes after 30 s or later: half of them within a minute, one in 60 after more than 30 min. A day and all TTLs pass ${short(1440 / minutes)} times as fast. MB are 10^6 bytes for all viewers: the keys' MEMORY USAGE, and what of used_memory goes when they are deleted.`,
    scaled.length === 0
      ? 'All viewers were loaded for real.'
      : `Fewer viewers were loaded for real, and the bytes multiplied: ${scaled.join(' ')}`,
    'Means are of hours 4 to 24, from an empty Redis on: "24 h" rises all day, its peak is what it goes on with. Lists have no alias, and no feeds that are made anew for those who come back; Sluice has.',
    '"ended dead": the instance was gone, and the published rule shows an empty page. "repeat a story", of lists: pages of the same requests on which a new feed at the same offset would have shown one or more again instead. Of Sluice both are what its pages were, by createForYou over the Redis store with sealed cursors.',
    `References of Sluice, one a post and shared by all viewers, are not in its MB but in its used_memory: ${short((ours?.references ?? 0) / 1e6)} MB here, where the day has 1,500 posts.`,
  ];
}
