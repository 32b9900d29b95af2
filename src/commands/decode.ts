import { systemClock } from '../clock.ts';
import { loadSettings, type Settings } from '../config.ts';
import { formatPosition, parsePosition } from '../ids/position.ts';
import { explainToken, logTag, type TokenExplanation, type TokenSource } from '../ids/tokens.ts';
import { logIdOf } from '../log-id.ts';
import type { CommandArgs } from './command.ts';
import { explainId } from './explain-id.ts';
import { isoTime, printable, table } from './print.ts';

type ReadableToken = Extract<TokenExplanation, { readable: true }>;

/** Explains an id or a token; 1 when it is neither. @throws ConfigError when there is a settings file with a problem */
export async function decode({ operand, flags, env, cwd, stdout, stderr }: CommandArgs): Promise<number> {
  const text = operand.trim();
  const lines = [...explainId(text, systemClock.now())];
  if (explainToken(text, []).readable) {
    const settings = (await loadSettings({ file: flags.config, cwd, env }))?.settings;
    const token = explainToken(text, settings?.tokens.keys ?? [], flags.viewer);
    if (token.readable) lines.push(...tokenLines(token, settings));
  }
  if (lines.length === 0) {
    stderr(`sluice: ${JSON.stringify(printable(text, 60))} is no id of a known layout and no token`);
    return 1;
  }
  for (const line of lines) stdout(line);
  return 0;
}

function tokenLines(token: ReadableToken, settings: Settings | undefined): readonly string[] {
  const { purpose, version, bound, feed, timeline } = token;
  const names = new Map(settings?.sources.map((source) => [logTag(logIdOf(source)), source.key]));
  return [
    `token, version ${version}: ${purpose}${bound ? ', bound to a viewer' : ''}`,
    ...table([
      ['  signature', signature(token, settings?.tokens.keys.length ?? 0)],
      ...(feed
        ? [
            ['  feed', feed.feedId],
            ['  next', `raw place ${feed.offset} of the instance, position ${feed.base + feed.offset} of the scroll`],
            ['  served', `${feed.served.count} before it`],
            ['  instance', feed.successor ? 'a successor' : 'the first of its scroll'],
          ]
        : []),
      ...(timeline?.at
        ? [['  at', `${isoTime(timeline.at.sortAtMs) ?? timeline.at.sortAtMs}, ${timeline.at.postId}`]]
        : []),
      ...(timeline?.sources ?? []).map((source) => [
        `  source ${names.get(source.tag) ?? source.tag}`,
        sourceLabel(source),
      ]),
    ]),
  ];
}

function sourceLabel({ joined, passed, history, missed }: TokenSource): string {
  const label = `joined at ${positionLabel(joined)}, passed ${positionLabel(passed)}${history ? ', with history' : ''}`;
  if (missed === undefined) return label;
  const from = missed.fromMs === undefined ? 'the beginning' : (isoTime(missed.fromMs) ?? missed.fromMs);
  return `${label}; missed what was trimmed from ${from} to where it joined, found ${isoTime(missed.foundAtMs) ?? missed.foundAtMs}`;
}

function signature({ signature: verdict, keyIndex }: ReadableToken, keys: number): string {
  if (keys === 0) return 'not verified: no key (the settings have no tokens.keys)';
  if (verdict === 'valid') return `valid, key ${keyIndex}`;
  return verdict === 'unknown' ? 'not verified: name its viewer with --viewer' : 'NOT VALID: no key verifies it';
}

function positionLabel(position: string): string {
  const { ms, n } = parsePosition(position);
  return `${formatPosition(ms, n)} (${isoTime(ms) ?? 'no time'})`;
}
