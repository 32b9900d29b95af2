import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** What one document may ask: far more than any screen needs, far less than what would hold up a gateway. */
export const documentLimits = {
  /** Tokens of the document's text. */
  tokens: 5000,
  /** Fields inside fields, with fragments put in place. Introspection has its own limit in graphql-js. */
  depth: 15,
  /** Fields of the operation itself, aliases counted. */
  rootFields: 30,
  /** Fields in all, with fragments put in place. */
  fields: 1000,
} as const;

/** Refuses documents over the limits before they are validated, since validation compares fields pairwise. */
export function useDocumentLimits(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source: string, options?: object) =>
        parseShallow(source, { ...options, maxTokens: documentLimits.tokens }),
      );
    },
    onValidate({ params, setResult }) {
      const errors = exceededLimits(params.documentAST);
      if (errors.length > 0) setResult(errors);
    },
  };
}

/** The parser calls itself for each list in a list: the few thousand that the tokens allow may be too many for the stack. */
function parseShallow(source: string, options: object): DocumentNode {
  try {
    return parse(source, options);
  } catch (error) {
    throw error instanceof RangeError ? new GraphQLError('Syntax Error: nested too deeply.') : error;
  }
}

/** One error for each limit that an operation of the document exceeds. Ends on any document, cyclic fragments included. */
export function exceededLimits(document: DocumentNode): GraphQLError[] {
  const measure = createMeasure(document);
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) => {
      const { depth, fields, roots } = measure(operation);
      return [
        ...exceeds(operation, 'levels deep', depth, documentLimits.depth),
        ...exceeds(operation, 'fields in all', fields, documentLimits.fields),
        ...exceeds(operation, 'root fields', roots, documentLimits.rootFields),
      ];
    });
}

function exceeds(node: OperationDefinitionNode, what: string, got: number, max: number): GraphQLError[] {
  return got <= max
    ? []
    : [new GraphQLError(`an operation must have at most ${max} ${what}, got ${got}`, { nodes: node })];
}

interface Size {
  readonly depth: number;
  readonly fields: number;
  readonly roots: number;
}

function createMeasure(document: DocumentNode): (definition: OperationDefinitionNode | FragmentDefinitionNode) => Size {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const measured = new Map<string, Size>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }

  function ofSelections({ selections }: SelectionSetNode): Size {
    const size = { depth: 0, fields: 0, roots: 0 };
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const inner = selection.selectionSet ? ofSelections(selection.selectionSet) : { depth: 0, fields: 0 };
        const introspects = selection.name.value.startsWith('__');
        size.depth = Math.max(size.depth, introspects ? 0 : inner.depth + 1);
        size.fields += inner.fields + 1;
        size.roots += 1;
        continue;
      }
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : ofSelections(selection.selectionSet);
      size.depth = Math.max(size.depth, inner.depth);
      size.fields += inner.fields;
      size.roots += inner.roots;
    }
    return size;
  }

  function ofFragment(name: string): Size {
    const known = measured.get(name);
    if (known) return known;
    // Stands in while the fragment is measured: one that holds itself is refused by validation.
    measured.set(name, { depth: 0, fields: 0, roots: 0 });
    const fragment = fragments.get(name);
    const size = fragment ? ofSelections(fragment.selectionSet) : { depth: 0, fields: 0, roots: 0 };
    measured.set(name, size);
    return size;
  }

  return ({ selectionSet }) => ofSelections(selectionSet);
}
