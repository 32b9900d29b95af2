import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

/** What one answer may hold, in UTF-16 units of JSON. */
export const MAX_ANSWER_LENGTH = 10_000_000;
/** What a field counts beside its text: with its name and what it takes until it is sent. So an answer has 200,000 at most. */
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
 * Has all fields of a schema counted in `context.answerSize`. Once that is exceeded texts and lists are empty, so that the
 * rest of an answer which nobody will get costs next to nothing, however long the lists are that a query runs into.
 */
export function countAnswers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      field.resolve = counted(field.resolve ?? defaultFieldResolver);
    }
  }
  return schema;
}

function counted(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    return value instanceof Promise
      ? value.then((settled) => charge(settled, context.answerSize))
      : charge(value, context.answerSize);
  };
}

function charge(value: unknown, size: AnswerSize): unknown {
  if (typeof value === 'string') return size.add(FIELD_LENGTH + value.length) ? value : '';
  if (!Array.isArray(value)) {
    size.add(FIELD_LENGTH);
    return value;
  }
  const length = value.reduce(
    (sum: number, item: unknown) => sum + (typeof item === 'string' ? item.length + 3 : 0),
    0,
  );
  return size.add(FIELD_LENGTH + length) ? value : [];
}
