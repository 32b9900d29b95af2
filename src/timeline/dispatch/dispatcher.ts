import type { Clock } from '../../clock.ts';
import type { Source } from '../../source.ts';
import type { QuotaStore } from '../../stores/quota-store.ts';
import { createDayCount } from '../limits/day-count.ts';
import type { JobKind, RequestKind } from '../limits/pools.ts';
import { createSourceLimits, left } from '../limits/source-limits.ts';
import type { Ownership } from './ownership.ts';
import { type Requests, requestsOf } from './requests.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { heldMs, type Sender } from './sender.ts';
import { createToken, isOwner, leave, restore, saveAfterJob, type Token } from './token.ts';

/** What a source wants to do. */
export interface Want {
  readonly kind: JobKind;
  /** Out of whose part; a gap that goes before its source's next poll takes the poll's. */
  readonly pool: 'poll' | 'repair';
  /** ms until it is due; 0: now. Infinity: not as things stand. */
  readonly dueInMs: number;
  /** Somebody waits for it. */
  readonly isPreferred: boolean;
  /** Its first request. */
  readonly request: RequestKind;
}

/** The work of one source. The dispatcher runs one job of a source at a time. */
export interface Worker {
  readonly source: Source;
  /** Cheap; asked at each look. In order of preference: the first that is due and allowed is done. */
  wants(): readonly Want[];
  /** ms since its last poll, whichever gateway it was: of those that nothing else tells apart the one that waited longest goes first. */
  polledAgoMs(): number;
  /** One job. Never throws. */
  work(kind: JobKind): Promise<void>;
  /**
   * This gateway dispatches the token from now on: reads what the store knows. Not called after an outage of the store in which no
   * other gateway took over. May throw StoreUnavailableError: tried again.
   */
  adopt(): Promise<void>;
  /** This gateway does not dispatch it any more. A job under way may still commit, but sends nothing. */
  lost(): void;
}

/** Runs the jobs of all sources of one token, each when it may be sent. */
export interface Dispatcher {
  /** Before `run`. */
  join(worker: Worker, options?: { maxPostsPerDay?: number | undefined }): Requests;
  /** Dispatches while this gateway owns the token, until `stop`; jobs under way are waited for. Never rejects. */
  run(): Promise<void>;
  /** What a worker wants may have changed. */
  wake(): void;
  isOwner(): boolean;
  stop(): void;
}

interface State {
  readonly token: Token;
  readonly scheduler: Scheduler;
  readonly members: Member[];
  readonly jobs: Set<Promise<void>>;
  waker: AbortController;
  /** How often the token changed hands. */
  era: number;
  /** A job waits for what another one may leave when it has sent its first request. */
  isShort: boolean;
}

interface Member {
  readonly worker: Worker;
  readonly sender: Sender;
  isAdopted: boolean;
  isBusy: boolean;
  /** Nothing is looked for up to then, monotonic ms. */
  restsUntilMs: number;
}

interface Candidate extends Pick<Sender, 'limits'> {
  readonly member: Member;
  readonly want: Want;
}

/** The most requests of one token under way, so that a slow host does not take all sockets. */
const MOST_AT_ONCE = 8;
const IDLE_MS = 3_600_000;
/** After a job that sent nothing, such as one that the store broke off. */
const REST_MS = 250;
const ADOPT_AGAIN_MS = 1000;

/** `token` is its credentialId; `random` returns 0 to below 1, for jitter. */
export function createDispatcher(deps: {
  token: string;
  ownership: Ownership;
  quotas: QuotaStore;
  clock: Clock;
  random: () => number;
}): Dispatcher {
  const { ownership, clock } = deps;
  const token = createToken({ ...deps, name: deps.token });
  const state: State = {
    ...{ token, scheduler: createScheduler(clock), members: [], jobs: new Set() },
    ...{ waker: new AbortController(), era: 0, isShort: false },
  };
  let isStopped = false;
  const wake = () => state.waker.abort();
  return {
    join: (worker, { maxPostsPerDay } = {}) => join(state, worker, maxPostsPerDay),
    async run() {
      ownership.claim({
        token: token.name,
        logs: state.members.map(({ worker }) => worker.source.logId),
        taken(before) {
          state.era += 1;
          restore(token, before);
          wake();
        },
        lost: () => lose(state),
        resumed: wake,
      });
      while (!isStopped) {
        state.waker = new AbortController();
        await clock.sleep(look(state), state.waker.signal);
      }
      await Promise.all(state.jobs);
      await leave(token);
    },
    wake,
    isOwner: () => isOwner(token),
    stop() {
      isStopped = true;
      wake();
    },
  };
}

function join(state: State, worker: Worker, maxPostsPerDay: number | undefined): Requests {
  const { token, scheduler } = state;
  const limits = createSourceLimits(token.limits, worker.source);
  token.sources.push(limits);
  const day = maxPostsPerDay === undefined ? undefined : createDayCount(maxPostsPerDay, token.clock.now);
  if (day) token.days.set(worker.source.logId, day);
  const onSent = () => {
    if (state.isShort) state.waker.abort();
  };
  const byId = { underWay: 0, known: [] };
  const sender: Sender = { token, scheduler, limits, day, onSent, hasTurn: false, sent: 0, byId };
  state.members.push({ worker, sender, isAdopted: false, isBusy: false, restsUntilMs: 0 });
  return requestsOf(sender);
}

/** Begins what may begin; returns the ms until something else may. */
function look(state: State): number {
  const { token, members, scheduler } = state;
  if (!isOwner(token)) return IDLE_MS;
  const waits = [IDLE_MS];
  let candidates: Candidate[] = [];
  const free = members.filter(({ isBusy }) => !isBusy);
  for (const member of free.sort((a, b) => compare(b.worker.polledAgoMs(), a.worker.polledAgoMs()))) {
    const restMs = member.restsUntilMs - token.clock.monotonic();
    if (restMs > 0) waits.push(restMs);
    else if (member.isAdopted) candidates.push(...candidatesOf(member, waits));
    else if (hasRoom(state)) begin(state, member, () => adopt(state, member));
  }
  state.isShort = false;
  while (hasRoom(state)) {
    // Jobs that have not sent their first request yet are to find it left.
    const begun = members.filter(({ sender }) => sender.hasTurn).length;
    const covered = candidates.filter(({ limits, want }) => left(limits, want.request, want.pool) > begun);
    state.isShort ||= covered.length < candidates.length;
    const next = scheduler.next(covered);
    if (next === undefined) {
      waits.push(...covered.map(scheduler.freeInMs));
      break;
    }
    begin(state, next.member, () => work(state, next));
    candidates = covered.filter(({ member }) => member !== next.member);
  }
  return Math.max(1, Math.ceil(Math.min(...waits)));
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What a member may do now; adds to `waits` in how many ms it may do the rest. */
function candidatesOf(member: Member, waits: number[]): readonly Candidate[] {
  const { worker, sender } = member;
  const wants = worker.wants().map((want) => ({ want, inMs: Math.max(want.dueInMs, heldMs(sender, want)) }));
  waits.push(...wants.map(({ inMs }) => inMs).filter((inMs) => inMs > 0));
  return wants.filter(({ inMs }) => inMs <= 0).map(({ want }) => ({ member, limits: sender.limits, want }));
}

/** True while one job more may be under way: of a host that does not answer, one in all. */
function hasRoom({ jobs, token }: State): boolean {
  return jobs.size < (token.breaker.outage() === undefined ? MOST_AT_ONCE : 1);
}

function begin(state: State, member: Member, work: () => Promise<void>): void {
  member.isBusy = true;
  const job = work().finally(() => {
    member.isBusy = false;
    state.jobs.delete(job);
    state.waker.abort();
  });
  state.jobs.add(job);
}

async function work({ token, scheduler }: State, { member, limits, want }: Candidate): Promise<void> {
  const { worker, sender } = member;
  scheduler.went(limits, want);
  Object.assign(sender, { hasTurn: true, sent: 0 });
  await worker.work(want.kind).catch(() => {});
  sender.hasTurn = false;
  if (sender.sent === 0) member.restsUntilMs = token.clock.monotonic() + REST_MS;
  saveAfterJob(token);
}

async function adopt(state: State, member: Member): Promise<void> {
  const { era } = state;
  try {
    await member.worker.adopt();
    if (state.era === era) member.isAdopted = true;
    else member.worker.lost();
  } catch {
    member.restsUntilMs = state.token.clock.monotonic() + ADOPT_AGAIN_MS;
  }
}

function lose(state: State): void {
  state.era += 1;
  for (const day of state.token.days.values()) day.forget();
  for (const member of state.members.filter(({ isAdopted }) => isAdopted)) {
    member.isAdopted = false;
    member.worker.lost();
  }
  state.waker.abort();
}
