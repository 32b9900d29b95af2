import type { SimulatedServer } from '../test/simulated-server.ts';
import type { SimulatedPost } from '../test/simulated-timeline.ts';
import type { Scenario } from './scenarios.ts';

/** Something that is done to posts which readers have seen. Times are ms since the run began. */
export interface PlannedChange {
  readonly atMs: number;
  happen(server: SimulatedServer): void;
}

/** What a client's copy of the timeline has wrong in the end. */
export interface ChangesTold {
  /** Delivered posts that were deleted, and those of them that the copy still shows. */
  readonly deleted: number;
  readonly untoldRemovals: number;
  /** The same of those whose text was edited. */
  readonly edited: number;
  readonly untoldEdits: number;
  /** Posts that the copy was told to remove, although they are there. */
  readonly wronglyRemoved: number;
}

/** The scenario's edits and deletions, each at some time after the post shows, and its moderation wave. `startMs`: Unix ms. */
export function drawChanges(
  { changes = { edited: 0, deleted: 0 }, wave, trafficMs }: Scenario,
  posts: readonly SimulatedPost[],
  startMs: number,
  random: () => number,
): readonly PlannedChange[] {
  const planned: PlannedChange[] = [];
  for (const { id, text, visibleAtMs } of posts) {
    const [drawn, after] = [random(), random()];
    const atMs = Math.max(0, visibleAtMs - startMs) + Math.floor(after * trafficMs);
    if (drawn < changes.edited) {
      const edit = (server: SimulatedServer) => ({ text: `${text}, edited`, editedAtMs: server.now() });
      planned.push({ atMs, happen: (server) => server.timeline.change(id, edit(server)) });
    } else if (drawn < changes.edited + changes.deleted) {
      planned.push({ atMs, happen: ({ timeline }) => timeline.change(id, { isDeleted: true }) });
    }
  }
  if (wave !== undefined) {
    const atMs = Math.floor(wave.at * trafficMs);
    planned.push({ atMs, happen: (server) => void server.timeline.deleteNewest(wave.posts, server.now()) });
  }
  return planned;
}

/** Compares a client's copy (text by upstream id) with what the server has now. `delivered`: the ids that it was ever given. */
export function compareCopy(
  copy: ReadonlyMap<string, string>,
  delivered: (id: string) => boolean,
  posts: Iterable<SimulatedPost>,
): ChangesTold {
  const given = [...posts].filter(({ id }) => delivered(id));
  const deleted = given.filter(({ isDeleted }) => isDeleted);
  const living = given.filter(({ isDeleted }) => !isDeleted);
  const edited = living.filter(({ editedAtMs }) => editedAtMs !== undefined);
  const isStale = ({ id, text }: SimulatedPost) => copy.has(id) && copy.get(id) !== text;
  return {
    deleted: deleted.length,
    untoldRemovals: deleted.filter(({ id }) => copy.has(id)).length,
    edited: edited.length,
    untoldEdits: edited.filter(isStale).length,
    wronglyRemoved: living.filter(({ id }) => !copy.has(id)).length,
  };
}
