import type { z } from 'zod';
import { pathLabel, secretLabel, valueLabel } from './words.ts';

/** The rule that a value broke, for schemas that have no words of their own. */
export function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `required ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `required ${oneOf(issue.values)}`;
    case 'invalid_union':
      return Array.isArray(issue.options) ? `required ${oneOf(issue.options)}` : 'required another form';
    case 'too_small':
      return `required at least ${issue.minimum} of them`;
    case 'too_big':
      return `required at most ${issue.maximum} of them`;
    default:
      return undefined;
  }
}

/**
 * The first problem as `<path>: <rule>, got <value>`, unknown keys before all others. Values that are secret by their
 * place, or that came from the environment, are not shown.
 */
export function firstProblem(error: z.ZodError, settings: unknown, origins: ReadonlyMap<string, string>): string {
  const issue = first(error.issues);
  if (issue === undefined) return 'settings: not valid';
  if (issue.code === 'unrecognized_keys')
    return `${pathLabel([...issue.path, ...issue.keys.slice(0, 1)])}: ${issue.message}`;
  if (issue.code === 'invalid_key') return `${pathLabel(issue.path)}: ${issue.issues[0]?.message ?? issue.message}`;

  const path = pathLabel(issue.path);
  if (!issue.message.startsWith('required')) return `${path}: ${issue.message}`;
  return `${path}: ${issue.message}, got ${cameAs(issue.path, settings, origins.get(path))}`;
}

function first(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code !== 'invalid_union') return issue;
  // The form that was meant is the one with the fewest problems inside; where none has the right type, the union says it.
  const inside = issue.errors.filter(([one]) => one && (one.path.length > 0 || one.code === 'unrecognized_keys'));
  const fewest = Math.min(...inside.map(({ length }) => length));
  const meant = first(inside.find(({ length }) => length === fewest) ?? []);
  return meant ? { ...meant, path: [...issue.path, ...meant.path] } : issue;
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  boolean: 'true or false',
  string: 'a text',
};

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => `'${String(value)}'`);
  return shown.length < 2 ? shown.join() : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
}

function cameAs(path: readonly PropertyKey[], settings: unknown, variable: string | undefined): string {
  const value = path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key],
    settings,
  );
  if (variable !== undefined) return `the ${String(value).length} characters of ${variable}`;
  return isSecret(path) ? secretLabel(value) : valueLabel(value);
}

function isSecret(path: readonly PropertyKey[]): boolean {
  const key = path.at(-1);
  const isNamedSo = key === 'token' || key === 'password' || key === 'sentinelPassword';
  return isNamedSo || path[0] === 'tokens' || path.includes('headers');
}
