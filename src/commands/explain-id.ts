import { idScheme } from '../ids/id-scheme.ts';
import { type NodeRef, parseNodeId } from '../ids/node-id.ts';
import { parsePostId } from '../ids/post-id.ts';
import {
  CECOCHAT,
  decodeSnowflake,
  isSnowflake,
  MASTODON,
  PIXELFED,
  type SnowflakeLayout,
  TAKAHE,
  TWITTER,
} from '../ids/snowflake.ts';
import { isoTime, printable, table } from './print.ts';

const LAYOUTS: Readonly<Record<string, SnowflakeLayout>> = { TWITTER, MASTODON, CECOCHAT, PIXELFED, TAKAHE };
const SCHEMES = { ULID: 'ulid', 'Pleroma flake': 'flake', UUIDv7: 'uuidv7' } as const;

/** The first Snowflake ids: no post with a time in its id is older. */
const FIRST_MS = Date.UTC(2010, 10, 1);
const DAY_MS = 86_400_000;

/** What an id of Sluice or of an upstream says, a few lines; none for what is no id. */
export function explainId(text: string, nowMs: number): readonly string[] {
  const ref = parseNodeId(text);
  if (ref === undefined) return explainUpstreamId(text, nowMs);
  return [
    `Sluice id: ${ref.type}`,
    ...table(partsOf(ref).map(([name, value]) => [`  ${name}`, printable(value)])),
    ...partsOf(ref).flatMap(([name, value]) => (name === 'upstream id' ? explainUpstreamId(value, nowMs) : [])),
  ];
}

function partsOf(ref: NodeRef): readonly (readonly [string, string])[] {
  switch (ref.type) {
    case 'post':
      return postParts(ref.id);
    case 'author':
      return [
        ['upstream id', ref.upstreamId],
        ['host', ref.host],
      ];
    case 'source':
      return [['key', ref.key]];
    case 'feed':
      return [['feed', ref.feedId]];
    case 'viewer':
      return [['user', ref.userId]];
    case 'gap':
      return [['gap', ref.gapId]];
    case 'entry':
      return [['source', ref.sourceKey], ...postParts(ref.postId)];
  }
}

function postParts(id: string): readonly (readonly [string, string])[] {
  const post = parsePostId(id);
  return post === undefined
    ? [['post', id]]
    : [
        ['upstream id', post.upstreamId],
        ['host', post.host],
      ];
}

function explainUpstreamId(id: string, nowMs: number): readonly string[] {
  const rows = [
    ...(isSnowflake(id)
      ? Object.entries(LAYOUTS).flatMap(([name, layout]) => snowflakeRow(name, layout, id, nowMs))
      : []),
    ...Object.entries(SCHEMES).flatMap(([name, scheme]) => {
      const timeMs = idScheme(scheme).timeMs(id);
      return timeMs === undefined ? [] : [[`  ${name}`, ...timeCells(timeMs, nowMs)]];
    }),
  ];
  return rows.length === 0 ? [] : [`id ${printable(id)}`, ...table(rows)];
}

function snowflakeRow(name: string, layout: SnowflakeLayout, id: string, nowMs: number): readonly string[][] {
  try {
    const { timeMs, generator, sequence } = decodeSnowflake(layout, id);
    const parts = generator === undefined ? [] : [`generator ${generator}`];
    return [[`  ${name}`, ...timeCells(timeMs, nowMs), [...parts, `sequence ${sequence}`].join(', ')]];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function timeCells(timeMs: number, nowMs: number): readonly string[] {
  const plausible = timeMs >= FIRST_MS && timeMs <= nowMs + DAY_MS;
  return [isoTime(timeMs) ?? 'a time that no calendar holds', plausible ? 'plausible' : 'not plausible'];
}
