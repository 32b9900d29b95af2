import { BadUserInputError, IdsUnavailableError } from '../errors.ts';
import type { MutationResolvers } from '../generated/graphql.ts';
import { requireUser } from './arguments.ts';

const MAX_IDS = 16_384;

/** @throws UnauthenticatedError, BadUserInputError, IdsUnavailableError, RateLimitedError */
export const nextIds: NonNullable<MutationResolvers['nextIds']> = (_root, { count }, context) => {
  const userId = requireUser(context);
  if (count < 1 || count > MAX_IDS) {
    throw new BadUserInputError('count', `count must be 1 to ${MAX_IDS}, got ${count}`);
  }
  if (!context.ids)
    throw new IdsUnavailableError('this gateway issues no ids: its settings do not say ids: { enabled: true }');
  return context.ids.next(userId, count);
};
