import type { GraphQLContext } from '../context.ts';
import { BadUserInputError, UnauthenticatedError } from '../errors.ts';
import { parseNodeId } from '../ids/node-id.ts';
import type { Source } from '../source.ts';
import { MAX_SOURCES } from '../timeline/reader/read.ts';

/** Names, the same source's among them. */
const MAX_NAMES = 200;

/** The limit to use: `fallback` for null, never clamped. @throws BadUserInputError outside 1 to `max`. */
export function checkLimit(value: number | null | undefined, bounds: { fallback: number; max: number }): number {
  const limit = value ?? bounds.fallback;
  if (limit >= 1 && limit <= bounds.max) return limit;
  throw new BadUserInputError('limit', `limit must be 1 to ${bounds.max}, got ${limit}`);
}

/** The id of who is signed in. @throws UnauthenticatedError when nobody is. */
export function requireUser({ viewer }: GraphQLContext): string {
  if (viewer.userId === undefined) throw new UnauthenticatedError();
  return viewer.userId;
}

/**
 * The sources to read: those named by id or settings key, once each, or all that the viewer may read.
 * An unknown source and one that is not for this viewer are refused alike. @throws BadUserInputError
 */
export function chooseSources(
  readable: readonly Source[],
  ids: readonly string[] | null | undefined,
): readonly Source[] {
  if (ids?.length === 0) throw new BadUserInputError('sources', 'sources must name at least one source, got []');
  if (ids && ids.length > MAX_NAMES) {
    throw new BadUserInputError('sources', `sources must hold at most ${MAX_NAMES} names, got ${ids.length}`);
  }
  const chosen = ids ? [...new Set(ids.map((id) => findSource(readable, id)))] : readable;
  if (chosen.length <= MAX_SOURCES) return chosen;
  throw new BadUserInputError(
    'sources',
    `sources must name at most ${MAX_SOURCES} of the ${chosen.length} sources that you may read`,
  );
}

function findSource(readable: readonly Source[], id: string): Source {
  const ref = parseNodeId(id);
  const key = ref?.type === 'source' ? ref.key : id;
  const source = readable.find((candidate) => candidate.key === key);
  if (source) return source;
  throw new BadUserInputError('sources', `sources must name sources that you may read, got "${id.slice(0, 100)}"`);
}
