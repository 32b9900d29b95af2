/**
 * All errors of Sluice. Messages say what was required and what came, and never hold a secret. Those of outages name addresses and
 * quote libraries: they are for operators, and clients get words made of the code. @see resolvers/client-words.ts
 * The edge maps `code` to `extensions.code`; whatever is not a SluiceError is masked.
 */
export class SluiceError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A token that is unreadable, forged, foreign, of another purpose or of a retired key: all alike on purpose. */
export class BadCursorError extends SluiceError {
  constructor() {
    super('BAD_CURSOR', 'the cursor is not valid here: drop it and ask without one');
  }
}

/** An argument that breaks a rule, such as `limit must be 1 to 100, got 500`. */
export class BadUserInputError extends SluiceError {
  /** The argument's name in the schema. */
  readonly argument: string;

  constructor(argument: string, message: string) {
    super('BAD_USER_INPUT', message);
    this.argument = argument;
  }
}

export class UnauthenticatedError extends SluiceError {
  constructor(message = 'this needs a signed-in viewer') {
    super('UNAUTHENTICATED', message);
  }
}

/** The store did not answer: an outage, never a miss. Tokens stay valid. */
export class StoreUnavailableError extends SluiceError {
  /** Unix milliseconds. */
  readonly retryAtMs: number | undefined;

  constructor(message: string, options?: { cause?: unknown; retryAtMs?: number }) {
    super('STORE_UNAVAILABLE', message, options);
    this.retryAtMs = options?.retryAtMs;
  }
}

/** The recommender did not answer usefully. Tokens stay valid. */
export class RecommenderUnavailableError extends SluiceError {
  /** Unix milliseconds. */
  readonly retryAtMs: number | undefined;

  constructor(message: string, options?: { cause?: unknown; retryAtMs?: number }) {
    super('RECOMMENDER_UNAVAILABLE', message, options);
    this.retryAtMs = options?.retryAtMs;
  }
}

/** A settings file that breaks a rule. The process stops with exit code 2 and this message, without a stack. */
export class ConfigError extends SluiceError {
  constructor(message: string) {
    super('CONFIG', message);
  }
}

/** Snowflake ids that cannot be issued now: there is no generator, or the clock stepped back beyond the tolerance. */
export class IdsUnavailableError extends SluiceError {
  /** Unix milliseconds. */
  readonly retryAtMs: number | undefined;

  constructor(message: string, retryAtMs?: number) {
    super('IDS_UNAVAILABLE', message);
    this.retryAtMs = retryAtMs;
  }
}

/** This caller has had its share for now. */
export class RateLimitedError extends SluiceError {
  /** Unix milliseconds. */
  readonly retryAtMs: number;

  constructor(message: string, retryAtMs: number) {
    super('RATE_LIMITED', message);
    this.retryAtMs = retryAtMs;
  }
}

/** What an upstream's reply amounts to. The same words as `ProblemCode` in the schema. */
export type UpstreamErrorCode = 'UNAUTHORIZED' | 'FORBIDDEN' | 'GONE' | 'RATE_LIMITED' | 'UNAVAILABLE' | 'MALFORMED';

/**
 * A request to an upstream that did not give posts. The message names the address that was asked, and quotes nothing of the reply.
 * Example message: `GET https://town.example/api/v1/timelines/home answered 429, retry after 30 s`.
 */
export class UpstreamError extends SluiceError {
  declare readonly code: UpstreamErrorCode;
  /** Unix milliseconds, from whichever header form the upstream uses. */
  readonly retryAtMs: number | undefined;
  /** The HTTP status, absent when none came. */
  readonly status: number | undefined;
  /** RATE_LIMITED: true where only the limit of this endpoint is used up. */
  readonly endpoint: boolean;
  /** True where the upstream told no time, and `retryAtMs` is a guess. */
  readonly guessed: boolean;
  /** True where the reply was larger than any may be: one for fewer posts may fit. */
  readonly isTooLarge: boolean;
  /** For operators alone, since it quotes the upstream: `set url to https://new.example`. */
  readonly hint: string | undefined;

  constructor(
    code: UpstreamErrorCode,
    message: string,
    options?: {
      cause?: unknown;
      retryAtMs?: number | undefined;
      status?: number | undefined;
      endpoint?: boolean | undefined;
      guessed?: boolean | undefined;
      isTooLarge?: boolean | undefined;
      hint?: string | undefined;
    },
  ) {
    super(code, message, options);
    this.retryAtMs = options?.retryAtMs;
    this.status = options?.status;
    this.endpoint = options?.endpoint ?? false;
    this.guessed = options?.guessed ?? false;
    this.isTooLarge = options?.isTooLarge ?? false;
    this.hint = options?.hint;
  }
}

/** The message with the hint, for a terminal or a log: never for clients. */
export function operatorMessage(error: SluiceError): string {
  const hint = error instanceof UpstreamError ? error.hint : undefined;
  return hint === undefined ? error.message : `${error.message}: ${hint}`;
}

/** What a page tells about something that went wrong beside it; the shape of `Problem` in the schema. */
export interface Problem {
  readonly code: UpstreamErrorCode | 'STALE' | 'NOT_CONNECTED' | 'RECOMMENDER_UNAVAILABLE' | 'STORE_UNAVAILABLE';
  readonly message: string;
  /** For the operator's log alone. */
  readonly hint?: string | undefined;
  /** The settings key of the source it is about. */
  readonly sourceKey?: string | undefined;
  /** Unix milliseconds. */
  readonly retryAtMs?: number | undefined;
}
