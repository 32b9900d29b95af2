import { UpstreamError } from '../errors.ts';
import type { Client } from './client.ts';
import { credentials } from './mastodon-schema.ts';
import { readJson } from './reply.ts';

/**
 * The id of the account whose token the client sends; undefined where the server does not say, whether it refuses or knows no
 * such question. Throws UpstreamError where it may tell later: UNAVAILABLE, RATE_LIMITED.
 * @see https://docs.joinmastodon.org/methods/accounts/#verify_credentials
 */
export async function askAccount(client: Client, signal: AbortSignal | undefined): Promise<string | undefined> {
  const url = client.url('/api/v1/accounts/verify_credentials');
  try {
    const told = credentials.safeParse(readJson(await client.get(url, signal), url, client.now()));
    return told.data?.id;
  } catch (error) {
    const isRefusal = error instanceof UpstreamError && !['UNAVAILABLE', 'RATE_LIMITED'].includes(error.code);
    if (isRefusal) return undefined;
    throw error;
  }
}
