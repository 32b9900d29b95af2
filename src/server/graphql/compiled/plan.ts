import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  typeFromAST,
  type VariableValues,
  visit,
} from 'graphql';

/** What an operation selects, for one set of answers to its `@include` and `@skip`. */
export interface Plan {
  readonly operation: OperationDefinitionNode;
  /** The fields that these selections hold for a type, in the order of the answer. Throws what a directive's argument throws. */
  fieldsOf(type: GraphQLObjectType, nodes: readonly FieldNode[], variables: VariableValues): readonly PlannedField[];
  /** As `fieldsOf`, of the operation itself. */
  rootFields(type: GraphQLObjectType, variables: VariableValues): readonly PlannedField[];
}

/** A field of an answer, with all that is the same whenever it is resolved. */
export interface PlannedField {
  /** Its name in the answer. */
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, unknown>;
  /** Its type, where that is a leaf or a leaf that must not be null. */
  readonly leaf: GraphQLLeafType | undefined;
  /** True for texts that count in what an answer may hold. */
  readonly isText: boolean;
  /** Without path and variables, which no resolver here looks at. */
  readonly info: GraphQLResolveInfo;
  /** Throws for arguments that only the execution can refuse. */
  readonly args: (variables: VariableValues) => Record<string, unknown>;
}

/** `schema` and `document` must be valid, and the operation must be one of the document's. */
export function createPlan(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Plan {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const planned = new WeakMap<readonly FieldNode[], Map<GraphQLObjectType, readonly PlannedField[]>>();
  const roots: readonly FieldNode[] = [];

  function planOnce(
    key: readonly FieldNode[],
    {
      type,
      sets,
      variables,
    }: { type: GraphQLObjectType; sets: readonly SelectionSetNode[]; variables: VariableValues },
  ): readonly PlannedField[] {
    const byType = planned.get(key) ?? new Map<GraphQLObjectType, readonly PlannedField[]>();
    planned.set(key, byType);
    const fields = byType.get(type) ?? plan(type, sets, variables);
    byType.set(type, fields);
    return fields;
  }

  function plan(type: GraphQLObjectType, sets: readonly SelectionSetNode[], variables: VariableValues) {
    const grouped = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const set of sets) collect(set);
    return [...grouped].flatMap(([key, nodes]) => plannedField(type, key, nodes) ?? []);

    /** @see https://spec.graphql.org/September2025/#CollectFields() */
    function collect(set: SelectionSetNode): void {
      for (const selection of set.selections) {
        if (isLeftOut(selection, variables)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value;
          const nodes = grouped.get(key);
          if (nodes) nodes.push(selection);
          else grouped.set(key, [selection]);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) {
          if (isOf(selection, type)) collect(selection.selectionSet);
        } else {
          const fragment = fragments[selection.name.value];
          if (!fragment || visited.has(selection.name.value) || !isOf(fragment, type)) continue;
          visited.add(selection.name.value);
          collect(fragment.selectionSet);
        }
      }
    }
  }

  function isOf({ typeCondition }: { typeCondition?: NamedTypeNode | undefined }, type: GraphQLObjectType): boolean {
    if (!typeCondition) return true;
    const condition = typeFromAST(schema, typeCondition);
    return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
  }

  function plannedField(
    parentType: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
  ): PlannedField | undefined {
    const [node] = nodes;
    const definition = node && schema.getField(parentType, node.name.value);
    if (!node || !definition) return undefined;
    const { name: fieldName, type: returnType } = definition;
    const info = { fieldName, fieldNodes: nodes, returnType, parentType, schema, fragments, operation };
    const nullable = getNullableType(returnType);
    const { name } = getNamedType(returnType);
    return {
      ...{ key, nodes, definition, info: info as unknown as GraphQLResolveInfo },
      leaf: isLeafType(nullable) ? nullable : undefined,
      isText: (name === 'String' || name === 'ID') && !parentType.name.startsWith('__'),
      args: argumentsOf(definition, node),
    };
  }

  return {
    operation,
    fieldsOf(type, nodes, variables) {
      return (
        planned.get(nodes)?.get(type) ??
        planOnce(nodes, { type, sets: nodes.flatMap(({ selectionSet }) => selectionSet ?? []), variables })
      );
    },
    rootFields: (type, variables) => planOnce(roots, { type, sets: [operation.selectionSet], variables }),
  };
}

function argumentsOf(definition: GraphQLField<unknown, unknown>, node: FieldNode): PlannedField['args'] {
  const compute = (variables: VariableValues) => getArgumentValues(definition, node, variables);
  if (definition.args.length > 0 && namesVariables(node)) return compute;
  let known: Record<string, unknown> | undefined;
  return (variables) => {
    known ??= compute(variables);
    return known;
  };
}

function namesVariables({ arguments: given = [] }: FieldNode): boolean {
  return given.some((argument) => variablesOf(argument).length > 0);
}

function isLeftOut(
  node: { readonly directives?: readonly DirectiveNode[] | undefined },
  variables: VariableValues,
): boolean {
  if (!node.directives?.length) return false;
  return (
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false
  );
}

/** Names of the variables that decide what is selected: with the same values, a plan is the same. */
export function decidingVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(directive) {
      for (const name of variablesOf(directive)) names.add(name);
    },
  });
  return [...names];
}

function variablesOf(node: Parameters<typeof visit>[0]): readonly string[] {
  const names: string[] = [];
  visit(node, { Variable: ({ name }) => void names.push(name.value) });
  return names;
}
