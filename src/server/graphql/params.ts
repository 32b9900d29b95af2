import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';

/** Reads the URL of a GET, where Yoga would take broken JSON for a fault of its own. */
export function useStrictUrl(): Plugin {
  return {
    onRequestParse({ request, setRequestParser }) {
      if (request.method === 'GET') setRequestParser(readUrl);
    },
  };
}

function readUrl({ url }: Pick<Request, 'url'>): GraphQLParams {
  const mark = url.indexOf('?');
  const given = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const text = (name: string) => given.get(name) || undefined;
  return {
    query: text('query'),
    operationName: text('operationName'),
    variables: parseObject('variables', text('variables')),
    extensions: parseObject('extensions', text('extensions')),
  } as GraphQLParams;
}

function parseObject(name: string, json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    throw badParam(name, 'a JSON object');
  }
}

function badParam(argument: string, required: string): GraphQLError {
  return new GraphQLError(`${argument} must be ${required}`, {
    extensions: { code: 'BAD_USER_INPUT', argument, http: { status: 400 } },
  });
}
