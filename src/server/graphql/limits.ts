import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** What one document may ask: far more than any screen needs, far less than what would hold up a gateway. */
export const documentLimits = {
  /** Tokens of the document's text. */
  tokens: 5000,
  /** Fields inside fields, with fragments put in place. Introspection has its own limit in graphql-js. */
  depth: 15,
  /** Fields of the operation itself, aliases counted. */
  rootFields: 30,
  /** Fields and fragments in all, with fragments put in place. */
  selections: 1000,
  /** Characters of a field's name in the answer, which may stand there many thousand times. */
  aliasLength: 100,
} as const;

/** One error for each limit that an operation of the document exceeds. Ends on any document, cyclic fragments included. */
export function exceededLimits(document: DocumentNode): GraphQLError[] {
  const measure = createMeasure(document);
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) => {
      const { depth, selections, roots, aliasLength } = measure(operation);
      return [
        ...exceeds(operation, 'levels deep', depth, documentLimits.depth),
        ...exceeds(operation, 'selections in all', selections, documentLimits.selections),
        ...exceeds(operation, 'root fields', roots, documentLimits.rootFields),
        ...exceeds(operation, 'characters in an alias', aliasLength, documentLimits.aliasLength),
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
  readonly selections: number;
  readonly roots: number;
  readonly aliasLength: number;
}

const nothing: Size = { depth: 0, selections: 0, roots: 0, aliasLength: 0 };

function createMeasure(document: DocumentNode): (definition: OperationDefinitionNode) => Size {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const measured = new Map<string, Size>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }

  function ofSelections({ selections }: SelectionSetNode): Size {
    return selections.map(ofSelection).reduce(together, nothing);
  }

  function ofSelection(selection: SelectionNode): Size {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return oneMore(ofFragment(selection.name.value));
    if (selection.kind === Kind.INLINE_FRAGMENT) return oneMore(ofSelections(selection.selectionSet));
    const { name, alias, selectionSet } = selection;
    const inner = selectionSet ? ofSelections(selectionSet) : nothing;
    return {
      depth: name.value.startsWith('__') ? 0 : inner.depth + 1,
      selections: inner.selections + 1,
      roots: 1,
      aliasLength: Math.max(inner.aliasLength, alias?.value.length ?? 0),
    };
  }

  function ofFragment(name: string): Size {
    const known = measured.get(name);
    if (known) return known;
    // Stands in while the fragment is measured: one that holds itself is refused by validation.
    measured.set(name, nothing);
    const fragment = fragments.get(name);
    const size = fragment ? ofSelections(fragment.selectionSet) : nothing;
    measured.set(name, size);
    return size;
  }

  return ({ selectionSet }) => ofSelections(selectionSet);
}

function together(a: Size, b: Size): Size {
  return {
    depth: Math.max(a.depth, b.depth),
    selections: a.selections + b.selections,
    roots: a.roots + b.roots,
    aliasLength: Math.max(a.aliasLength, b.aliasLength),
  };
}

function oneMore(size: Size): Size {
  return { ...size, selections: size.selections + 1 };
}
