import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import type { PlannedField } from './compiled/plan.ts';

/** What one answer may hold, in UTF-16 units of JSON. */
export const MAX_ANSWER_LENGTH = 10_000_000;
/** What a field of a list's item counts beside its text: with its name and what it takes until it is sent. So there are 200,000 at most. */
export const FIELD_LENGTH = 50;

/** Adds up what one answer is to hold, while it is made. One a request. */
export interface AnswerSize {
  /** True once it would be longer than MAX_ANSWER_LENGTH: then the answer is not whole, and must not be sent. */
  readonly isExceeded: boolean;
  /** Counts so much more; false when it is too much. */
  add(length: number): boolean;
}

export function createAnswerSize(): AnswerSize {
  let length = 0;
  return {
    get isExceeded() {
      return length > MAX_ANSWER_LENGTH;
    },
    add(more) {
      length += more;
      return length <= MAX_ANSWER_LENGTH;
    },
  };
}

/**
 * Counts what a resolver returned in `context.answerSize` and returns it: a list with all that a query selects of its items,
 * before any of them is looked at. Once it is exceeded texts and lists are empty, so that the rest of an answer which nobody
 * will get costs next to nothing.
 */
export function chargeAnswer(value: unknown, { isText, info }: PlannedField, context: unknown): unknown {
  if (typeof value === 'string') return !isText || sizeOf(context).add(value.length) ? value : '';
  return Array.isArray(value) ? chargeList(value, sizeOf(context), info) : value;
}

function sizeOf(context: unknown): AnswerSize {
  return (context as { readonly answerSize: AnswerSize }).answerSize;
}

function chargeList(
  value: readonly unknown[],
  size: AnswerSize,
  { fieldNodes, fragments, parentType }: PlannedField['info'],
): unknown {
  if (parentType.name.startsWith('__')) return value;
  const texts = value.reduce((sum: number, item: unknown) => sum + (typeof item === 'string' ? item.length : 0), 0);
  const fields = fieldNodes.reduce((sum, { selectionSet }) => sum + fieldsOf(selectionSet, fragments), 1);
  return size.add(texts + value.length * fields * FIELD_LENGTH) ? value : [];
}

const known = new WeakMap<SelectionSetNode, number>();

/** How many fields are selected, at any depth. Documents are kept, so that each is counted once. */
function fieldsOf(selectionSet: SelectionSetNode | undefined, fragments: GraphQLResolveInfo['fragments']): number {
  if (!selectionSet) return 0;
  const counted = known.get(selectionSet);
  if (counted !== undefined) return counted;
  const fields = selectionSet.selections.reduce((sum, selection) => {
    const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
    const inner = isSpread ? fragments[selection.name.value]?.selectionSet : selection.selectionSet;
    return sum + 1 + fieldsOf(inner, fragments);
  }, 0);
  known.set(selectionSet, fields);
  return fields;
}
