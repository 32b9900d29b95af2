import { z } from 'zod';
import { configSchema } from './schema.ts';

/**
 * The JSON Schema (draft 2020-12) of a settings file, for editors: `"$schema": "./sluice.schema.json"`.
 * `npm run schema` writes it. Rules that span two keys are known to the strict check alone.
 */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
  return { title: 'Settings of Sluice', ...schema };
}
