import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';

/** What one answer may hold, in UTF-16 units of JSON. */
export const MAX_ANSWER_LENGTH = 10_000_000;

/** Adds up the text that one answer is to hold, while it is made. One a request. */
export interface AnswerSize {
  /** True once it would be longer than MAX_ANSWER_LENGTH: then the answer is not whole, and must not be sent. */
  readonly isExceeded: boolean;
  /** Counts so much more text; false when it is too much. */
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
 * Has all text fields of a schema counted in `context.answerSize`. Once that is exceeded they are empty, so that the rest
 * of an answer which nobody will get costs nothing: numbers, times and names of fields are bounded by what an operation may cost.
 */
export function countAnswers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const { name } = getNamedType(field.type);
      if (name === 'String' || name === 'ID') field.resolve = counted(field.resolve ?? defaultFieldResolver);
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
  if (typeof value === 'string') return size.add(value.length) ? value : '';
  if (!Array.isArray(value)) return value;
  const length = value.reduce((sum: number, item: unknown) => sum + (typeof item === 'string' ? item.length : 0), 0);
  return size.add(length) ? value : [];
}
