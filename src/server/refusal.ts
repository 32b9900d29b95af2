import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why a request does not even reach GraphQL. */
export interface Refusal {
  readonly status: number;
  /** `extensions.code` of the one error in the answer. */
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers in the shape of a GraphQL error, so that clients have one form to read; of the type that they accept. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, code, message, headers } = refusal;
  const type = request.headers.accept?.includes('application/graphql-response+json')
    ? 'application/graphql-response+json'
    : 'application/json';
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...headers });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}
