import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { createRandom } from '../../../experiment/random.ts';

/** A document over the schema with variables: mostly valid. */
export function generateOperation(
  schema: GraphQLSchema,
  seed: number,
): {
  text: string;
  variables: Record<string, unknown>;
  operationName: string | undefined;
} {
  const random = createRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const fragments: string[] = [];

  const directive = () => {
    if (below(6) > 0) return '';
    return ` @${oneOf(['skip', 'include'])}(if: ${oneOf(['true', 'false', '$yes', '$no', '$maybe'])})`;
  };
  const literals: Record<string, readonly string[]> = {
    limit: ['1', '20', 'null', '$limit', '-3', '"x"'],
    ids: ['["1@a"]', '$ids', '[]', '["1@a", "2@a"]', '[$text]', 'null'],
    sources: ['["a"]', '$ids', 'null', '[null]'],
    layout: ['TWITTER', 'MASTODON', '$layout', 'NONE'],
    count: ['1', '$limit', '2'],
    name: ['"Post"', '"Nothing"', '$text'],
    includeDeprecated: ['true', '$yes'],
  };
  const args = (given: readonly { name: string; type: unknown }[]) => {
    const said = given
      .filter(({ type }) => String(type).endsWith('!') || below(2) === 0)
      .map(
        ({ name }) =>
          `${name}: ${oneOf((below(12) === 0 ? ['null', '5'] : (literals[name] ?? ['"x"', '$text', 'null'])).slice())}`,
      );
    return said.length > 0 ? `(${said.join(', ')})` : '';
  };

  function selections(type: GraphQLNamedType, depth: number): string {
    if (!isObjectType(type) && !isInterfaceType(type)) return '';
    const fields = Object.values(type.getFields()).filter((field) => depth < 4 || isLeafType(getNamedType(field.type)));
    const picked = Array.from({ length: 1 + below(4) }, () => {
      const kind = below(14);
      if (kind === 0 || fields.length === 0) return `__typename${directive()}`;
      if (kind === 1 && depth < 4) {
        const on = isInterfaceType(type) ? oneOf(schema.getPossibleTypes(type)) : type;
        return `...${oneOf([` on ${on.name}`, isInterfaceType(type) ? ` on ${on.name}` : ''])}${directive()} { ${selections(on, depth + 1)} }`;
      }
      if (kind === 2 && depth < 4) {
        const name = `F${fragments.length}`;
        const on = isInterfaceType(type) ? oneOf(schema.getPossibleTypes(type)) : type;
        fragments.push('');
        fragments[Number(name.slice(1))] = `fragment ${name} on ${on.name} { ${selections(on, depth + 1)} }`;
        return `...${name}${directive()} ...${name}`;
      }
      const field = oneOf(fields);
      const inner = selections(getNamedType(field.type), depth + 1);
      // Rarely one that may be in conflict with another, or is no name for a property of most objects.
      const alias = below(5) === 0 ? `${oneOf(['a', 'b', '__proto__', 'constructor'])}${below(40)}: ` : '';
      const unknown = below(150) === 0 ? ' nothing' : '';
      return `${alias}${field.name}${args(field.args)}${directive()}${inner ? ` { ${inner} }` : ''}${unknown}`;
    });
    return picked.join(' ');
  }

  const root = below(8) === 0 ? 'mutation' : 'query';
  const type = root === 'mutation' ? schema.getMutationType() : schema.getQueryType();
  const introspection =
    root === 'query' && below(10) === 0
      ? ' __schema { queryType { name } types { name fields { name args { name defaultValue } type { kind ofType { name } } } } } __type(name: "Post") { name kind interfaces { name } }'
      : '';
  const body = type ? selections(type, 0) : '';
  const head = `${root} Q($yes: Boolean!, $no: Boolean = false, $maybe: Boolean! = true, $limit: Int = 3, $ids: [ID!]!, $text: String = "t", $layout: SnowflakeLayout!)`;
  const text = `${head} { ${body}${introspection} } ${fragments.join(' ')}${below(8) === 0 ? ' query Other { viewer { id } }' : ''}`;
  const variables: Record<string, unknown> = {
    yes: oneOf([true, false]),
    ids: oneOf([['1@a'], [], 'one']),
    layout: oneOf(['TWITTER', 'MASTODON']),
    ...(below(2) === 0 && { no: oneOf([true, false, null]) }),
    ...(below(2) === 0 && { limit: oneOf([1, 5, null]) }),
    ...(below(30) === 0 && { limit: 'many' }),
    ...(below(3) === 0 && { text: oneOf(['u', null]) }),
  };
  return { text, variables, operationName: oneOf(['Q', 'Q', 'Q', undefined]) };
}
