import { randomBytes } from 'node:crypto';
import { type DocumentNode, GraphQLError, Kind, parse, type Source, visit } from 'graphql';
import type { Clock } from '../../clock.ts';
import {
  BadUserInputError,
  IdsUnavailableError,
  RateLimitedError,
  RecommenderUnavailableError,
  SluiceError,
  StoreUnavailableError,
  UpstreamError,
} from '../../errors.ts';
import type { ClientWords } from '../../resolvers/client-words.ts';
import { dateTime } from '../../resolvers/date-time.ts';

const RETRY_AFTER_MS = 5000;

/** Those that tell when another try makes sense. */
const RETRYABLE = [StoreUnavailableError, RecommenderUnavailableError, IdsUnavailableError, RateLimitedError] as const;

/** Our other codes, which clients may see as they are. All others are masked. */
const PUBLIC_CODES = new Set(['BAD_CURSOR', 'BAD_USER_INPUT', 'UNAUTHENTICATED']);

/** Written for clients: what they did, or what the settings do not offer. All other messages stay here. */
const isForClients = (error: SluiceError) =>
  PUBLIC_CODES.has(error.code) ||
  error instanceof RateLimitedError ||
  (error instanceof IdsUnavailableError && error.retryAtMs === undefined);

/**
 * The one place where an error gets its `extensions.code`. What is neither ours nor the client's mistake becomes
 * INTERNAL_SERVER_ERROR with a short id, and is logged under that id. Of what fails inside clients get the words of its code.
 */
export function createErrorMask(deps: {
  clock: Clock;
  clientWords: ClientWords;
  log: (line: string) => void;
}): (error: unknown) => GraphQLError {
  return (error) => {
    const located = error instanceof GraphQLError ? error : undefined;
    const cause = rootOf(error);
    if (cause instanceof SluiceError) {
      const ours = extensionsOf(cause, deps.clock);
      if (ours) return relocate(isForClients(cause) ? cause.message : deps.clientWords(cause), located, ours);
    }
    const theirs = located && clientMistake(located, cause);
    return theirs ? relocate(located.message, located, theirs) : mask(cause, located, deps.log);
  };
}

function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof GraphQLError && root.originalError) root = root.originalError;
  return root;
}

/** Undefined for those that are not for clients, such as a broken setting. */
function extensionsOf(error: SluiceError, clock: Clock): Record<string, unknown> | undefined {
  if (error instanceof BadUserInputError) return { code: error.code, argument: error.argument };
  if (PUBLIC_CODES.has(error.code)) return { code: error.code };
  const retryAt = (retryAtMs: number | undefined) => dateTime(retryAtMs ?? clock.now() + RETRY_AFTER_MS);
  // No time mends a setting.
  if (error instanceof IdsUnavailableError && error.retryAtMs === undefined) return { code: error.code };
  if (RETRYABLE.some((kind) => error instanceof kind)) {
    return { code: error.code, retryAt: retryAt((error as StoreUnavailableError).retryAtMs) };
  }
  if (error instanceof UpstreamError) {
    const code = error.code === 'RATE_LIMITED' ? error.code : 'UPSTREAM_UNAVAILABLE';
    return { code, retryAt: retryAt(error.retryAtMs) };
  }
  return undefined;
}

/** What GraphQL and Yoga refuse in a request; undefined when the mistake is ours. */
function clientMistake(error: GraphQLError, cause: unknown): Record<string, unknown> | undefined {
  const variable = /^Variable "\$(\w+)"/.exec(error.message)?.[1];
  if (variable !== undefined && error.path === undefined) return badInput(error, argumentOf(error, variable));
  // `"Query.forYou(limit:)"` of a field, `"@include(if:)"` of a directive.
  const argument = /^Argument "[@\w.]+\((\w+):\)"/.exec(error.message)?.[1];
  if (argument !== undefined && cause instanceof GraphQLError) return badInput(error, argument);
  // What has no place in an answer was refused before there was one: by Yoga, the parser, or the check of variables.
  if (error.path !== undefined || !(cause instanceof GraphQLError)) return undefined;
  const { code } = error.extensions;
  if (code === 'INTERNAL_SERVER_ERROR') return undefined;
  const isToldAsItIs = code === 'BAD_USER_INPUT' || String(code).startsWith('GRAPHQL_');
  return isToldAsItIs ? error.extensions : badInput(error, undefined);
}

function badInput(error: GraphQLError, argument: string | undefined): Record<string, unknown> {
  const http = error.extensions.http && { ...error.extensions.http, spec: false };
  return { code: 'BAD_USER_INPUT', ...(argument !== undefined && { argument }), ...(http !== undefined && { http }) };
}

/** Parsed once, however many errors lie in one. */
const documents = new WeakMap<Source, DocumentNode>();

/** The argument that the variable is given to, read from the document in which the error lies. */
function argumentOf({ nodes }: GraphQLError, variable: string): string | undefined {
  const source = nodes?.[0]?.loc?.source;
  if (source === undefined) return undefined;
  const document = documents.get(source) ?? parse(source);
  documents.set(source, document);
  let found: string | undefined;
  visit(document, {
    Argument({ name, value }) {
      if (value.kind === Kind.VARIABLE && value.name.value === variable) found ??= name.value;
      if (
        value.kind === Kind.LIST &&
        value.values.some((item) => item.kind === Kind.VARIABLE && item.name.value === variable)
      ) {
        found ??= name.value;
      }
    },
  });
  return found;
}

function mask(cause: unknown, located: GraphQLError | undefined, log: (line: string) => void): GraphQLError {
  const id = randomBytes(4).toString('hex');
  const where = located?.path ? ` at ${located.path.join('.')}` : '';
  log(`error ${id}${where}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`);
  const http = located?.path ? undefined : { http: { status: 500 } };
  return relocate(`internal server error ${id}`, located, { code: 'INTERNAL_SERVER_ERROR', ...http });
}

function relocate(
  message: string,
  located: GraphQLError | undefined,
  extensions: Record<string, unknown>,
): GraphQLError {
  const { nodes, source, positions, path } = located ?? {};
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}
