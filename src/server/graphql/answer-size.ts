import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

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

type Resolver = GraphQLFieldResolver<unknown, { readonly answerSize: AnswerSize }>;

/**
 * Has all texts and lists of a schema counted in `context.answerSize`: a list with all that a query selects of its items,
 * before any of them is looked at. Once it is exceeded they are empty, so that the rest of an answer which nobody will get
 * costs next to nothing.
 */
export function countAnswers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const { name } = getNamedType(field.type);
      const isText = name === 'String' || name === 'ID';
      if (isListType(getNullableType(field.type))) field.resolve = counted(field.resolve, chargeList);
      else if (isText) field.resolve = counted(field.resolve, chargeText);
    }
  }
  return schema;
}

type Charge = (value: unknown, size: AnswerSize, info: GraphQLResolveInfo) => unknown;

function counted(resolve: Resolver = defaultFieldResolver, charge: Charge): Resolver {
  return (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    return value instanceof Promise
      ? value.then((settled) => charge(settled, context.answerSize, info))
      : charge(value, context.answerSize, info);
  };
}

function chargeText(value: unknown, size: AnswerSize): unknown {
  return typeof value !== 'string' || size.add(value.length) ? value : '';
}

function chargeList(value: unknown, size: AnswerSize, { fieldNodes, fragments }: GraphQLResolveInfo): unknown {
  if (!Array.isArray(value)) return value;
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
