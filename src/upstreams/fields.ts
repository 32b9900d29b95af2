import { z } from 'zod';
import { cutText, isClean, startOf, toLine, toLines } from '../input/clean-text.ts';

/**
 * What a field of an upstream's body may hold. A field that we can do without becomes `undefined` when it is missing,
 * null, of another type or unusable: one odd field must not cost a post.
 */

/** GraphQL's Int ends here. */
const MAX_COUNT = 2_147_483_647;
/** What browsers, proxies and caches all take. */
const MAX_URL = 2_048;
const LAST_TIME_MS = 253_402_300_799_999;

/** HTML, its first `max` UTF-16 units: it is cleaned when it is sanitised. */
export const markup = (max: number) =>
  z
    .string()
    .transform((value) => (value.length > max ? startOf(value, max) : value))
    .optional()
    .catch(undefined);

/** A text of several lines, at most `max` UTF-16 units: a longer one is cut and ends in `…`. */
export const text = (max: number) =>
  z
    .string()
    .transform((value) => toLines(cutText(value, max)))
    .optional()
    .catch(undefined);

/** A name or label in one line, at most `max` UTF-16 units: a longer one is cut and ends in `…`. */
export const label = (max: number) => z.string().transform((value) => toLine(cutText(value, max)));

export const line = (max: number) => label(max).optional().catch(undefined);

/** A label that must be there, and is worth nothing when it is cut. */
export const word = (max: number) =>
  z
    .string()
    .max(max)
    .transform(toLine)
    .refine((value) => value !== '');

export const flag = z.boolean().optional().catch(undefined);

/** A whole number from 0; larger ones than GraphQL can say are told as the largest. */
export const count = z
  .number()
  .min(0)
  .transform((value) => Math.min(Math.round(value), MAX_COUNT))
  .optional()
  .catch(undefined);

export const positive = z
  .number()
  .gt(0)
  .max(MAX_COUNT)
  .transform((value) => Math.max(1, Math.round(value)))
  .optional()
  .catch(undefined);

/** A duration in seconds, turned to ms. */
export const seconds = z
  .number()
  .gt(0)
  .max(MAX_COUNT / 1000)
  .transform((value) => Math.round(value * 1000))
  .optional()
  .catch(undefined);

/** An absolute http(s) URL as text. */
export const link = z.string().refine(isWebUrl).optional().catch(undefined);

/**
 * What names a post on all servers: an absolute http(s) URL, or an identifier `at://…` or `did:…`. Anything else is absent,
 * above all what looks like a post id of ours.
 */
export const uri = z
  .string()
  .refine((value) => isWebUrl(value) || (value.length <= MAX_URL && IDENTIFIER.test(value)))
  .optional()
  .catch(undefined);

const IDENTIFIER = /^(at:\/\/|did:[a-z0-9]+:)[\x21-\x7e]+$/;

/** An id as exact text. Numbers are taken only as far as JSON keeps them exact. */
export const id = z.union([
  z.string().regex(/^[\x21-\x7e]{1,200}$/),
  z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .transform((value) => String(value)),
]);

export const optionalId = id.optional().catch(undefined);

/** BCP 47, as far as it can be told by its form. */
export const language = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/)
  .optional()
  .catch(undefined);

/** A time as text, turned to Unix ms. */
export const time = z
  .string()
  .max(64)
  .transform((value) => parseTime(value))
  .optional()
  .catch(undefined);

/** The good ones of a list, of which the first `max` are looked at; anything but a list is an empty one. */
export const listOf = <T extends z.ZodType>(item: T, max: number) =>
  z
    .unknown()
    .optional()
    .transform((values): unknown[] => (Array.isArray(values) ? values.slice(0, max) : []))
    // Caught one by one: an error made of each bad one would cost more than the good ones.
    .pipe(z.array(item.optional().catch(undefined)))
    .transform((values) => values.filter((value): value is z.infer<T> & {} => value !== undefined));

/** An object whose fields may all be missing; anything else is an empty one. */
export const partOf = <T extends z.ZodRawShape>(shape: T) => z.object(shape).optional().catch(undefined);

/** Unix ms of an ISO 8601 or an RFC 2822-like time, in UTC where it names no zone; `undefined` for anything else. */
export function parseTime(value: string): number | undefined {
  const zoneless = /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(value);
  const ms = Date.parse(zoneless ? `${value}Z` : value);
  return ms >= 0 && ms <= LAST_TIME_MS ? Math.floor(ms) : undefined;
}

/**
 * True for an absolute http or https URL of at most 2,048 UTF-16 units: without controls, and without a user's name before the host,
 * which is there to be taken for the host.
 */
export function isWebUrl(value: string): boolean {
  if (value.length > MAX_URL || !/^https?:\/\//i.test(value) || !isClean(value)) return false;
  const url = URL.parse(value);
  return url !== null && url.username === '' && url.password === '';
}
