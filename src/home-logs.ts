import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import { operatorMessage, UpstreamError } from './errors.ts';
import type { Source } from './source.ts';
import { audienceKey, requireOneMeaning } from './sources.ts';
import type { NoteStore } from './stores/note-store.ts';

interface Deps {
  readonly notes: NoteStore;
  readonly clock: Clock;
  readonly log?: ((line: string) => void) | undefined;
}

/** What a settings key stood for when it was last used. */
interface KeyNote {
  readonly logId: string;
  /** A digest. */
  readonly audience: string;
  /** Whose log it is. Absent while no server told. */
  readonly account?: string | undefined;
}

/** A start waits no longer for servers to say whose tokens they are, all of them together. */
const ASK_MS = 5_000;

/**
 * The sources, in their order, those of Mastodon home timelines with the log of their account: a new token goes on with it. A log
 * keeps the name that it began with, which is that of its first token. Where the server does not tell, it is the log that the
 * settings key used last, as long as the same people may read it: whoever may not must not find another account's posts there.
 * @throws ConfigError for two keys of one account that differ in what would make one log mean two things, StoreUnavailableError.
 */
export async function resolveHomeLogs(sources: readonly Source[], deps: Deps): Promise<readonly Source[]> {
  const homes = sources.filter(isMastodonHome);
  const accounts = await findAccounts(homes, deps);
  const logs = await findLogs(homes, accounts, deps.notes);
  const keys = await deps.notes.read(homes.map(keyNoteName));

  const changed: { source: Source; used: KeyNote }[] = [];
  const resolved = sources.map((source) => {
    if (!isMastodonHome(source)) return source;
    const account = accounts.get(source.credentialId);
    const body = keys.get(keyNoteName(source))?.body;
    const last: KeyNote | undefined = body === undefined ? undefined : JSON.parse(body);
    const used = account === undefined ? usedBefore(source, last) : usedBy(source, account, logs);
    if (JSON.stringify(used) !== body) changed.push({ source, used });
    const isUntold = !accounts.has(source.credentialId);
    return { ...source, logId: used.logId, confirmAccount: isUntold ? confirmer(source, used, deps.notes) : undefined };
  });
  // What is refused here was not used: its key must not go on with it.
  requireOneMeaning(resolved);
  await Promise.all(changed.map(({ source, used }) => writeKeyNote(source, used, deps.notes)));
  return resolved;
}

function isMastodonHome({ network, timeline }: Source): boolean {
  return network === 'mastodon' && timeline === 'home';
}

function usedBy(source: Source, account: string, logs: ReadonlyMap<string, string>): KeyNote {
  const logId = logs.get(logNoteName(source, account)) ?? source.logId;
  return { logId, audience: audienceDigest(source), account };
}

function usedBefore(source: Source, last: KeyNote | undefined): KeyNote {
  const audience = audienceDigest(source);
  return last?.audience === audience ? last : { logId: source.logId, audience };
}

/**
 * Whose tokens they are, by `credentialId`: undefined where the server refuses to say, absent where it did not answer. What was
 * told once is not asked again.
 */
async function findAccounts(homes: readonly Source[], deps: Deps): Promise<ReadonlyMap<string, string | undefined>> {
  const { notes, clock, log = () => {} } = deps;
  const known = await notes.read(homes.map(accountNoteName));
  const accounts = new Map<string, string | undefined>();
  const toAsk = new Map<string, Source>();
  for (const source of homes) {
    const note = known.get(accountNoteName(source));
    if (note) accounts.set(source.credentialId, note.body);
    else toAsk.set(source.credentialId, source);
  }

  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(ASK_MS, done.signal).then(() => late.abort());
  const asked = [...toAsk.values()].map(async (source) => {
    try {
      const account = await source.upstream.account?.(late.signal);
      accounts.set(source.credentialId, account);
      if (account !== undefined) await notes.write({ name: accountNoteName(source), body: account });
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      log(`${source.key}: whose token it is will be asked again: ${operatorMessage(error)}`);
    }
  });
  await Promise.all(asked).finally(() => done.abort());
  return accounts;
}

/** The log of each account, by the name of its note; an account that is seen for the first time gets that of its first source. */
async function findLogs(
  homes: readonly Source[],
  accounts: ReadonlyMap<string, string | undefined>,
  notes: NoteStore,
): Promise<ReadonlyMap<string, string>> {
  const firsts = new Map<string, string>();
  for (const source of homes) {
    const account = accounts.get(source.credentialId);
    const name = account === undefined ? undefined : logNoteName(source, account);
    if (name !== undefined && !firsts.has(name)) firsts.set(name, source.logId);
  }
  const names = [...firsts.keys()];
  const known = await notes.read(names);
  const unseen = [...firsts].filter(([name]) => !known.has(name));
  await Promise.all(unseen.map(([name, body]) => notes.write({ name, body, expectedVersion: 0 })));
  // Another gateway may have been first.
  const all = unseen.length === 0 ? known : await notes.read(names);
  return new Map([...all].map(([name, { body }]) => [name, body]));
}

/**
 * What asks whose token it is once the server answers, before anything is read with it. A log that began with this very token
 * needs no proof: there nothing is refused, and what is told is kept for the next token.
 */
function confirmer(source: Source, used: KeyNote, notes: NoteStore): (signal?: AbortSignal) => Promise<void> {
  const isOwn = used.logId === source.logId;
  let refusal: UpstreamError | undefined;

  async function ask(signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      return await source.upstream.account?.(signal);
    } catch (error) {
      if (isOwn && error instanceof UpstreamError) return undefined;
      throw error;
    }
  }

  return async (signal) => {
    if (refusal) throw refusal;
    const account = await ask(signal);
    if (account === undefined) return;
    if (!isOwn && account !== used.account) {
      const what = `the token of ${source.key} is not known to be of the account whose log it goes on with`;
      refusal = new UpstreamError('FORBIDDEN', what, { hint: 'start again: then it has the log of its own account' });
      throw refusal;
    }
    await notes.write({ name: accountNoteName(source), body: account });
    await notes.write({ name: logNoteName(source, account), body: used.logId, expectedVersion: 0 });
    await writeKeyNote(source, { ...used, account }, notes);
  };
}

async function writeKeyNote(source: Source, { logId, audience, account }: KeyNote, notes: NoteStore): Promise<void> {
  await notes.write({ name: keyNoteName(source), body: JSON.stringify({ logId, audience, account }) });
}

/** `account:town.example 0123456789abcdef`: a digest of the token. */
function accountNoteName({ credentialId }: Source): string {
  return `account:${credentialId}`;
}

function logNoteName({ host }: Source, account: string): string {
  return `log:${host}:home:${encodeURIComponent(account)}`;
}

function keyNoteName({ host, key }: Source): string {
  return `log-of-key:${host}:${encodeURIComponent(key)}`;
}

function audienceDigest({ audience }: Source): string {
  return createHash('sha256').update(audienceKey(audience)).digest('hex').slice(0, 16);
}
