/** Whose part of what is allowed a request comes out of. `repair`: gaps, rescans and confirmations; `byId`: reads by id for pages. */
export type Pool = 'poll' | 'repair' | 'byId';

/** A page of a timeline, or posts by their ids: upstreams count them apart. */
export type RequestKind = 'page' | 'byId';

/** What a source does: it polls, fills a gap, reads again what it knows, or asks whether posts were deleted. */
export type JobKind = 'poll' | 'fill' | 'rescan' | 'confirm';

/** Polls and repairs have up to 90 % of what the others left: what those may need until the reset is never lent. */
export const PARTS: Readonly<Record<Pool, number>> = { poll: 0.7, repair: 0.2, byId: 0.1 };
