import { BadUserInputError } from '../errors.ts';
import type { QueryResolvers, SnowflakeLayout, SnowflakeResolvers } from '../generated/graphql.ts';
import {
  CECOCHAT,
  decodeSnowflake,
  MASTODON,
  type SnowflakeLayout as SnowflakeBits,
  TWITTER,
} from '../ids/snowflake.ts';
import { dateTime, LATEST_MS } from './date-time.ts';
import type { SnowflakeValue } from './models.ts';

const layouts: Readonly<Record<SnowflakeLayout, SnowflakeBits>> = { TWITTER, MASTODON, CECOCHAT };

/** The value, checked; undefined when it is no id of this layout, or of a time that DateTime cannot write. */
export function snowflakeOf(value: string, layout: SnowflakeLayout): SnowflakeValue | undefined {
  try {
    return decodeSnowflake(layouts[layout], value).timeMs <= LATEST_MS ? { value, layout } : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws BadUserInputError */
export const snowflake: NonNullable<QueryResolvers['snowflake']> = (_root, { value, layout }) => {
  const found = snowflakeOf(value, layout);
  if (found) return found;
  const got = JSON.stringify(value.slice(0, 40));
  throw new BadUserInputError('value', `value must be a decimal id that fits the layout ${layout}, got ${got}`);
};

export const Snowflake: SnowflakeResolvers = {
  time: (parent) => dateTime(parts(parent).timeMs),
  generator: (parent) => parts(parent).generator,
  sequence: (parent) => parts(parent).sequence,
};

function parts({ value, layout }: SnowflakeValue): ReturnType<typeof decodeSnowflake> {
  return decodeSnowflake(layouts[layout], value);
}
