import { parsePostId } from '../ids/post-id.ts';
import { toLine } from '../input/clean-text.ts';
import type { PostId } from '../post.ts';
import { REASON_KINDS, type Reason, type RecommendedItem } from '../recommenders/recommender.ts';

/** Items of an answer that are looked at: far more than an instance takes. */
const MAX_ITEMS = 20_000;
const MAX_CANONICAL_ID_LENGTH = 2048;
const MAX_REASON_LENGTH = 80;

/**
 * What can be used of a recommender's answer, best first: each post once, of each story the first. Items are one story when
 * they share a canonical id, or when their posts do in `stories` (where this gateway knows).
 * `dropped` counts items without a post id, and of hosts that no source has. Undefined for something that is no list at all.
 */
export function readAnswer(
  answer: unknown,
  stories: ReadonlyMap<PostId, string>,
  hasHost: (host: string) => boolean = () => true,
): { readonly items: readonly RecommendedItem[]; readonly dropped: number } | undefined {
  if (!Array.isArray(answer)) return;
  const items: RecommendedItem[] = [];
  const seen = new Set<string>();
  let dropped = 0;
  for (const raw of answer.slice(0, MAX_ITEMS) as unknown[]) {
    const item = readItem(raw, (postId) => stories.has(postId) || isOfHost(postId, hasHost));
    if (!item) {
      dropped++;
      continue;
    }
    const { postId, canonicalId = postId } = item;
    const names = [postId, canonicalId, stories.get(postId) ?? postId];
    if (names.some((name) => seen.has(name))) continue;
    for (const name of names) seen.add(name);
    items.push(item);
  }
  return { items, dropped };
}

function isOfHost(postId: PostId, hasHost: (host: string) => boolean): boolean {
  const place = parsePostId(postId);
  return place !== undefined && hasHost(place.host);
}

function readItem(raw: unknown, isPostId: (text: string) => boolean): RecommendedItem | undefined {
  if (typeof raw !== 'object' || raw === null) return;
  const { postId, canonicalId, reason } = raw as Record<string, unknown>;
  if (typeof postId !== 'string' || !isPostId(postId)) return;
  const isCanonical =
    typeof canonicalId === 'string' && canonicalId !== '' && canonicalId.length <= MAX_CANONICAL_ID_LENGTH;
  return { postId, canonicalId: isCanonical ? canonicalId : undefined, reason: readReason(reason) };
}

function readReason(raw: unknown): Reason | undefined {
  if (typeof raw !== 'object' || raw === null) return;
  const { kind, text } = raw as Record<string, unknown>;
  if (typeof text !== 'string') return;
  const known = REASON_KINDS.find((one) => one === kind) ?? 'OTHER';
  return { kind: known, text: toLine(atMost(MAX_REASON_LENGTH, text)) };
}

/** The first so many characters, none of them cut in two. */
function atMost(count: number, text: string): string {
  return text.length <= count ? text : [...text.slice(0, 2 * count)].slice(0, count).join('');
}
