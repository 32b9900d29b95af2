import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import {
  ask,
  createDesk,
  doneWithin,
  limitIn,
  never,
  type SourceOptions,
  settle,
  type TestSource,
  takeTurn,
} from './harness.ts';

const PAGING = { requests: 300, windowMs: 900_000, counts: 'pages' } as const;
const HIDDEN = { requests: 1, windowMs: 1100, counts: 'all' } as const;

/** The first source of a desk, and others where a test wants them. */
async function desk(...options: readonly SourceOptions[]) {
  const made = await createDesk(...options);
  const [town, other, third] = made.sources as [TestSource, TestSource, TestSource];
  return { ...made, desk: made, town, other, third };
}

function refuse(source: TestSource, error: UpstreamError, kind: 'page' | 'byId' = 'page'): Promise<void> {
  const failing = async () => Promise.reject(error);
  return assert.rejects(source.requests.send({ pool: 'poll', kind, signal: never }, failing), error);
}

function limited(retryAtMs: number, told: { endpoint?: boolean; guessed?: boolean } = {}): UpstreamError {
  return new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs, ...told, status: 429 });
}

describe('the dispatcher', () => {
  it('does what is due at once, one job of a source at a time, and sleeps until something else is', async () => {
    const { clock, dispatcher, town } = await desk();
    town.answer = async () => {
      await clock.sleep(3000);
      return {};
    };
    town.wants = [{ kind: 'poll', dueInMs: 2000 }];
    dispatcher.wake();
    await clock.advance(1999);
    assert.equal(town.jobs.length, 0);
    town.wants = [{ kind: 'poll' }];
    await clock.advance(5000);
    assert.deepEqual(
      town.jobs.map(({ atMs }) => atMs),
      [2000, 5000],
    );
  });

  it('does the first that is allowed of what a source wants', async () => {
    const { clock, desk: at, dispatcher, town } = await desk();
    await takeTurn(at, town, 'fill');
    town.wants = [{ kind: 'fill' }, { kind: 'poll' }];
    town.mostJobs = 2;
    dispatcher.wake();
    await settle(clock);
    assert.equal(town.jobs.at(-1)?.kind, 'poll', 'the fill has had its turn');
  });

  it('gives polls 70 %, repairs 20 % of what the headers allow, and at most 90 % where others leave theirs', async () => {
    for (const [kind, least, most] of [
      ['poll', 0.7, 0.9],
      ['fill', 0.5, 0.9],
      ['rescan', 0.5, 0.9],
    ] as const) {
      const { clock, desk: at, town } = await desk();
      await ask(town, 'poll', limitIn(clock, [300, 300, 300_000]));
      const done = await doneWithin(at, town, kind, 299_000);
      assert.ok(done >= 300 * least && done <= 300 * most, `${kind}: ${done} of 300`);
    }
  });

  it('polls every 4.3 s at first under 300 per 15 min, sooner where repairs leave theirs', async () => {
    const { clock, desk: at, town } = await desk();
    await ask(town, 'poll', limitIn(clock, [300, 300, 900_000]));
    const first = await doneWithin(at, town, 'poll', 43_000);
    assert.ok(first >= 9 && first <= 11, `${first} in 43 s`);
    await doneWithin(at, town, 'poll', 600_000);
    const later = await doneWithin(at, town, 'poll', 43_000);
    assert.ok(later > first && later <= 13, `${later} in 43 s`);
  });

  it('never lends what fills may still need', async () => {
    const { clock, desk: at, dispatcher, town, other } = await desk({}, {});
    await ask(town, 'poll', limitIn(clock, [300, 300, 300_000]));
    await doneWithin(at, town, 'poll', 150_000);
    town.wants = [{ kind: 'poll' }];
    other.wants = [{ kind: 'fill' }];
    const before = town.jobs.length;
    dispatcher.wake();
    await clock.advance(149_000);
    assert.ok(other.jobs.length >= 29, `${other.jobs.length} fills in 150 s at one in 5 s`);
    assert.ok(town.jobs.length - before >= 104, `${town.jobs.length - before} polls of 0.7 * 149`);
  });

  it('lets a walk of several pages pass, and has its next poll wait for them', async () => {
    const { clock, desk: at, town } = await desk();
    await ask(town, 'poll', limitIn(clock, [100, 100, 70_000]));
    await takeTurn(at, town, 'poll', 3);
    const waitMs = town.requests.waitMs('poll');
    assert.ok(waitMs >= 2500 && waitMs < 3100, `three times 0.7 s / 70 to 90 %: ${waitMs} ms`);
    assert.equal(town.requests.waitMs('repair'), 0, 'the pools are apart');
    await clock.advance(waitMs + 10_000);
    await takeTurn(at, town, 'poll', 10);
    const afterMs = town.requests.waitMs('poll');
    assert.ok(afterMs < 2500, `ten turns had gone by unused: ${afterMs} ms`);
  });

  it('lets a gap that opens be filled with what nobody used, and leaves the polls theirs', async () => {
    for (const throttles of [[], [PAGING]]) {
      const { clock, desk: at, town } = await desk({ throttles });
      await ask(town, 'poll', limitIn(clock, [300, 300, 900_000]));
      await clock.advance(300_000);
      const fills = await doneWithin(at, town, 'fill', 0);
      assert.ok(fills >= 15 && fills <= 60, `${fills} at once, of 100 that nobody used in 5 min`);
      const polls = await doneWithin(at, town, 'poll', 590_000);
      assert.ok(polls >= 0.7 * 195, `${polls} polls in the other 10 min`);
    }
  });

  it('lets a gap that goes before the next poll take the turns of polls', async () => {
    const { clock, dispatcher, town } = await desk({ throttles: [PAGING] });
    town.wants = [{ kind: 'fill', pool: 'poll' }];
    dispatcher.wake();
    await clock.advance(43_000);
    assert.ok(town.jobs.length >= 10 && town.jobs.length <= 11, `${town.jobs.length} in 43 s`);
  });

  it('breaks a walk off before it takes what the others need', async () => {
    const { clock, town } = await desk({}, {}, {});
    await ask(town, 'poll', limitIn(clock, [40, 40, 400_000]));
    let pages = 0;
    for (; town.requests.mayGoOn(); pages += 1) await ask(town, 'poll');
    assert.ok(pages >= 20 && pages <= 26, `${pages} pages`);
  });

  it('does not pace polls where nothing tells how much is allowed, but repairs and reads by id', async () => {
    const { clock, desk: at, town } = await desk();
    for (const kind of ['poll', 'fill', 'rescan'] as const) await takeTurn(at, town, kind);
    assert.deepEqual([town.requests.waitMs('poll'), town.requests.waitMs('repair') > 0], [0, true]);
    let byId = 0;
    for (let n = 0; n < 600; n += 1) {
      byId += await town.requests.takeById(1);
      await clock.advance(1000);
    }
    assert.ok(byId >= 60 && byId <= 75, `${byId} in 10 min`);
  });

  it('has at most 8 requests of a token under way', async () => {
    const { clock, dispatcher, sources } = await desk(...Array.from({ length: 40 }, () => ({})));
    let underWay = 0;
    let most = 0;
    for (const source of sources) {
      source.wants = [{ kind: 'poll' }];
      source.answer = async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await clock.sleep(200);
        underWay -= 1;
        return {};
      };
    }
    dispatcher.wake();
    await clock.advance(10_000);
    assert.equal(most, 8);
    const jobs = sources.map((source) => source.jobs.length);
    assert.ok(Math.max(...jobs) - Math.min(...jobs) <= 1, `${jobs}: by turns`);
  });

  it('serves first what somebody waits for, and starves nobody', async () => {
    const { clock, dispatcher, sources } = await desk(
      ...Array.from({ length: 20 }, () => ({
        throttles: [{ requests: 450, windowMs: 900_000, counts: 'pages' as const }],
      })),
    );
    for (const [n, source] of sources.entries()) source.wants = [{ kind: 'poll', isPreferred: n === 7 }];
    dispatcher.wake();
    await clock.advance(600_000);
    const jobs = sources.map((source) => source.jobs.length);
    assert.ok((jobs[7] ?? 0) >= 145, `${jobs[7]} of 210`);
    assert.ok(Math.min(...jobs) >= 2, `${jobs}`);
  });

  it('begins with the one whose last poll is the longest ago, whichever gateway it was', async () => {
    const throttles = [{ requests: 450, windowMs: 900_000, counts: 'pages' as const }];
    const ago = [3000, 9000, 1000, 7000, 5000];
    const { clock, dispatcher, sources } = await desk(...ago.map((polledAgoMs) => ({ throttles, polledAgoMs })));
    for (const source of sources) Object.assign(source, { wants: [{ kind: 'poll' }], mostJobs: 1 });
    dispatcher.wake();
    await clock.advance(60_000);
    const begun = sources.map(({ jobs }, n) => [jobs[0]?.atMs ?? 0, ago[n]] as const).sort(([a], [b]) => a - b);
    assert.deepEqual(
      begun.map(([, agoMs]) => agoMs),
      [9000, 7000, 5000, 3000, 1000],
    );
  });

  it('gives the turns of an endpoint and of the token to each of several endpoints', async () => {
    const { clock, dispatcher, sources } = await desk(
      { endpoint: 'user' },
      { endpoint: 'user' },
      { endpoint: 'search' },
      { endpoint: 'list' },
    );
    for (const source of sources) {
      source.wants = [{ kind: 'poll' }];
      await source.requests.send({ pool: 'poll', kind: 'page', signal: never }, async () => ({
        limits: [
          { name: 'x-rate-limit', endpoint: true, ...limitIn(clock, [100, 100, 900_000]) },
          { name: 'x-app-rate-limit', endpoint: false, ...limitIn(clock, [200, 200, 900_000]) },
        ],
      }));
    }
    dispatcher.wake();
    await clock.advance(890_000);
    const [one = 0, two = 0, ...others] = sources.map((source) => source.jobs.length);
    const all = [one, two, ...others].reduce((sum, jobs) => sum + jobs, 0);
    assert.ok(all >= 0.65 * 200 && all <= 200, `${all} of 200`);
    assert.ok(Math.min(one, two, ...others) >= 20, `${[one, two, ...others]}`);
    assert.ok(Math.abs(one - two) <= 2, `${one} and ${two}`);
  });

  it('lets a source that sent nothing rest, so that others have their turn', async () => {
    const { clock, dispatcher, town } = await desk({ work: async () => {} });
    town.wants = [{ kind: 'poll' }];
    dispatcher.wake();
    await clock.advance(10_000);
    assert.ok(town.jobs.length <= 41, `${town.jobs.length} looks in 10 s`);
  });

  it('begins no more jobs than requests are left', async () => {
    const { clock, dispatcher, town, other, third } = await desk({}, {}, {});
    await ask(town, 'poll', limitIn(clock, [300, 1, 60_000]));
    for (const source of [town, other, third]) source.wants = [{ kind: 'poll' }];
    dispatcher.wake();
    await settle(clock);
    assert.equal(town.jobs.length + other.jobs.length + third.jobs.length, 1);
  });
});

describe('limits', () => {
  it('let nothing through at remaining 0, also of a success, until the reset', async () => {
    const { clock, desk: at, town } = await desk();
    await ask(town, 'poll', limitIn(clock, [15, 0, 60_000]));
    for (const kind of ['poll', 'fill', 'rescan'] as const) assert.equal(await doneWithin(at, town, kind, 10_000), 0);
    assert.equal(await town.requests.takeById(1), 0);
    assert.equal(town.requests.blockedMs(), 30_000);
    await assert.rejects(ask(town, 'poll'), { code: 'RATE_LIMITED', retryAtMs: clock.now() + 30_000 });
    await clock.advance(30_000);
    assert.equal(town.requests.blockedMs(), 0);
  });

  it('hold all at once, whichever was told last', async () => {
    const { clock, town } = await desk();
    await ask(town, 'poll', limitIn(clock, [300, 10, 900_000]));
    // Mastodon tells the one of which least is left; both are of 300.
    await ask(town, 'poll', limitIn(clock, [300, 5, 200_000]));
    for (let n = 0; n < 5; n += 1) await ask(town, 'repair');
    assert.equal(town.requests.blockedMs(), 200_000);
    await clock.advance(200_000);
    for (let n = 0; n < 4; n += 1) await ask(town, 'repair');
    assert.equal(town.requests.blockedMs(), 700_000);
  });

  it('are of one endpoint where they say so, and of the token where they do not', async () => {
    const {
      clock,
      town: home,
      other,
      third: search,
    } = await desk({ endpoint: 'user' }, { endpoint: 'user' }, { endpoint: 'search' });
    const tell = (remaining: number, dayRemaining: number) =>
      home.requests.send({ pool: 'poll', kind: 'page', signal: never }, async () => ({
        limits: [
          { name: 'x-rate-limit', endpoint: true, ...limitIn(clock, [15, remaining, 900_000]) },
          { name: 'x-app-rate-limit', endpoint: false, ...limitIn(clock, [1000, dayRemaining, 3_600_000]) },
        ],
      }));
    const blocked = () => [home, other, search].map(({ requests }) => requests.blockedMs());
    await tell(0, 900);
    assert.deepEqual(blocked(), [900_000, 900_000, 0]);
    assert.equal(await search.requests.takeById(1), 1);
    search.requests.fetchedById({ requests: 1, error: limited(clock.now() + 60_000, { endpoint: true }) });
    assert.equal(search.requests.blockedMs(), 0);
    assert.equal(await search.requests.takeById(1), 0, 'reads by id have limits of their own');
    await clock.advance(900_000);
    await tell(9, 0);
    assert.deepEqual(blocked(), [3_600_000, 3_600_000, 3_600_000]);
  });

  it('are told in the time of the server, whatever the local clock is', async () => {
    const { clock, town } = await desk();
    const serverDateMs = clock.now() - 7_200_000;
    const rateLimit = { limit: 15, remaining: 0, resetAtMs: serverDateMs + 60_000 };
    await town.requests.send({ pool: 'poll', kind: 'page', signal: never }, async () => ({ rateLimit, serverDateMs }));
    assert.equal(town.requests.blockedMs(), 60_000);
    for (const stepMs of [-3_600_000, 7_200_000]) {
      clock.step(stepMs);
      assert.equal(town.requests.blockedMs(), 60_000);
    }
  });

  it('are not believed with a reset in the past, nor one in a year', async () => {
    const { clock, town } = await desk();
    await ask(town, 'poll', limitIn(clock, [15, 0, -1]));
    await ask(town, 'poll', limitIn(clock, [15, 0, 365 * 86_400_000]));
    assert.equal(town.requests.blockedMs(), 0);
  });

  it('go on as they were after a reset, until a reply tells', async () => {
    const { clock, town } = await desk();
    await ask(town, 'poll', limitIn(clock, [10, 0, 60_000]));
    await clock.advance(60_000);
    for (let n = 0; n < 10; n += 1) await refuse(town, new UpstreamError('MALFORMED', 'garbage'));
    assert.ok(town.requests.blockedMs() > 600_000, 'nothing tells when it is over');
  });

  it('that no header tells are counted: 300 reads of timelines in 15 min, reads by id not among them', async () => {
    const { clock, desk: at, town } = await desk({ throttles: [PAGING] });
    const done = await doneWithin(at, town, 'poll', 43_000);
    assert.ok(done >= 10 && done <= 11, `${done} polls in 43 s`);
    for (let n = done; n < 300; n += 1) await ask(town, 'poll');
    assert.ok(town.requests.blockedMs() > 850_000 && town.requests.blockedMs() <= 900_000);
    assert.equal(await town.requests.takeById(1), 1);
    await clock.advance(town.requests.blockedMs());
    assert.equal(town.requests.blockedMs(), 0);
  });

  it('hold beside those that headers tell', async () => {
    const { clock, desk: at, town } = await desk({ throttles: [PAGING] });
    await ask(town, 'poll', limitIn(clock, [1500, 1500, 300_000]));
    const done = await doneWithin(at, town, 'poll', 43_000);
    assert.ok(done <= 11, `${done} polls in 43 s`);
  });

  it('yield to a source that names a shorter interval, not to one that names a longer one, nor for the others', async () => {
    for (const [minIntervalMs, isPaced] of [
      [500, false],
      [30_000, true],
    ] as const) {
      const {
        desk: at,
        town,
        other,
      } = await desk({ throttles: [PAGING], polling: { ownInterval: true, minIntervalMs } }, { throttles: [PAGING] });
      await takeTurn(at, other, 'poll');
      await takeTurn(at, town, 'poll');
      assert.equal(town.requests.waitMs('poll') > 0, isPaced);
      assert.equal(other.requests.waitMs('poll') > 0, true);
    }
  });

  it('of one request a second make a walk wait, not end', async () => {
    const { clock, town: home, other } = await desk({ throttles: [HIDDEN] }, { throttles: [HIDDEN] });
    const sentAtMs: number[] = [];
    const startMs = clock.elapsedMs;
    const walk = async ({ requests }: TestSource) => {
      for (let page = 0; page < 4; page += 1) {
        assert.equal(requests.mayGoOn(), true);
        await requests.send({ pool: 'poll', kind: 'page', signal: never }, async () => {
          sentAtMs.push(clock.elapsedMs - startMs);
          return {};
        });
      }
    };
    const walks = [walk(home), walk(other)];
    await clock.advance(20_000);
    await Promise.all(walks);
    assert.deepEqual(sentAtMs, [0, 1100, 2200, 3300, 4400, 5500, 6600, 7700]);
  });

  it('count what the adapter asks on its own, such as the instance document', async () => {
    let sent = 0;
    const { clock, town } = await desk({ requestsSent: () => sent });
    sent += 1;
    await ask(town, 'poll', limitIn(clock, [10, 5, 60_000]));
    sent += 4;
    await town.requests.describe(async () => DESCRIPTION);
    assert.equal(town.requests.blockedMs(), 0);
    sent += 1;
    await ask(town, 'repair');
    assert.ok(town.requests.blockedMs() > 0, 'five were left');
  });

  it('learn from reads by id', async () => {
    const { clock, town } = await desk();
    assert.equal(await town.requests.takeById(1), 1);
    town.requests.fetchedById({ requests: 1, told: { rateLimit: limitIn(clock, [15, 0, 60_000]) } });
    assert.equal(town.requests.blockedMs(), 60_000);
  });
});

describe('a 429', () => {
  it('stops all requests until the time that was told', async () => {
    const { clock, town, other } = await desk({}, {});
    await refuse(town, limited(clock.now() + 90_000));
    assert.deepEqual([town.requests.blockedMs(), other.requests.waitMs('repair')], [90_000, 90_000]);
    clock.step(-3_600_000);
    assert.equal(other.requests.blockedMs(), 90_000, 'no hour longer when the local clock is set back an hour');
  });

  it('that tells no time makes the wait longer each time, whatever is told to remain, until a reply comes', async () => {
    const { clock, town } = await desk();
    const waits: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      await refuse(town, limited(clock.now() + 60_000, { guessed: true }));
      waits.push(town.requests.blockedMs() / 60_000);
      await clock.advance(town.requests.blockedMs());
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 15, 15]);
    await refuse(town, limited(clock.now() + 30_000));
    assert.equal(town.requests.blockedMs(), 30_000, 'as told');
    await clock.advance(30_000);
    await ask(town, 'poll', limitIn(clock, [900, 700, 900_000]));
    await refuse(town, limited(clock.now() + 60_000, { guessed: true }));
    assert.equal(town.requests.blockedMs(), 60_000);
  });

  it('is one refusal for all requests that were under way', async () => {
    const { clock, town } = await desk();
    const error = () => limited(clock.now() + 60_000, { guessed: true });
    await Promise.all(Array.from({ length: 5 }, () => refuse(town, error())));
    assert.equal(town.requests.blockedMs(), 60_000);
  });
});

describe('a 401', () => {
  it('stops no other request', async () => {
    const { desk: at, town, other } = await desk({}, {});
    await refuse(town, new UpstreamError('UNAUTHORIZED', 'answered 401', { status: 401 }));
    assert.deepEqual([town.requests.blockedMs(), other.requests.waitMs('repair')], [0, 0]);
    await takeTurn(at, other, 'poll');
    assert.equal(await other.requests.takeById(1), 1);
  });

  it('or 403 to a read by id turns those off alone, for an hour', async () => {
    for (const code of ['UNAUTHORIZED', 'FORBIDDEN'] as const) {
      const { clock, desk: at, dispatcher, town, other } = await desk({}, {});
      await refuse(town, new UpstreamError(code, 'answered so'), 'byId');
      assert.equal(other.requests.mayReadById(), false);
      assert.equal(await other.requests.takeById(1), 0);
      await takeTurn(at, other, 'poll');
      town.wants = [{ kind: 'confirm', request: 'byId' }];
      dispatcher.wake();
      await clock.advance(3_590_000);
      assert.equal(town.jobs.length, 0);
      await clock.advance(20_000);
      assert.equal(town.jobs[0]?.kind, 'confirm');
      assert.equal(other.requests.mayReadById(), true);
    }
  });
});

describe('a host that does not answer', () => {
  it('is tried by one request at a time for however many sources, no 60 s apart, and by all once it answers', async () => {
    const { clock, dispatcher, sources } = await desk(...Array.from({ length: 40 }, () => ({})));
    const sentAtMs: number[] = [];
    let isOut = true;
    for (const source of sources) {
      source.wants = [{ kind: 'poll' }];
      source.answer = async () => {
        sentAtMs.push(clock.elapsedMs);
        await clock.sleep(100);
        if (isOut) throw new UpstreamError('UNAVAILABLE', 'answered 502', { status: 502 });
        return {};
      };
    }
    dispatcher.wake();
    await clock.advance(900_000);
    assert.ok(sentAtMs.length >= 18 && sentAtMs.length <= 45, `${sentAtMs.length} requests in 15 min`);
    const waits = sentAtMs.map((atMs, n) => atMs - (sentAtMs[n - 1] ?? atMs));
    assert.ok(Math.max(...waits) <= 60_200, `${Math.max(...waits)} ms`);
    assert.equal(sources[0]?.requests.outage()?.status, 502);
    isOut = false;
    await clock.advance(61_000);
    for (const source of sources) assert.ok(source.jobs.length > 0);
    assert.equal(sources[0]?.requests.outage(), undefined);
  });
});

describe('posts a day', () => {
  it('bound a source alone, its rescans at half of them, until the next day (UTC)', async () => {
    const { clock, desk: at, town: billed, other } = await desk({ maxPostsPerDay: 100 }, {});
    const { day } = billed.requests;
    assert.ok(day);
    const doneAtOnce = async (kind: 'poll' | 'fill' | 'rescan') => doneWithin(at, billed, kind, 0);
    day.read(50);
    assert.equal(await doneAtOnce('rescan'), 0);
    assert.equal(await doneAtOnce('fill'), 1);
    assert.equal(billed.requests.blockedMs(), 0);
    await clock.advance(3_600_000);
    day.read(50);
    const untilMidnightMs = 86_400_000 - clock.elapsedMs;
    for (const kind of ['poll', 'fill', 'rescan'] as const) assert.equal(await doneAtOnce(kind), 0);
    assert.deepEqual([billed.requests.mayGoOn(), billed.requests.blockedMs()], [false, untilMidnightMs]);
    assert.equal(await billed.requests.takeById(1), 0);
    assert.equal(other.requests.waitMs('poll'), 0);
    await clock.advance(untilMidnightMs);
    assert.equal(await doneAtOnce('rescan'), 1);
  });

  it('that are used up keep no other source waiting', async () => {
    const { clock, dispatcher, town: billed, other } = await desk({ maxPostsPerDay: 100 }, {});
    billed.requests.day?.read(50);
    for (const source of [billed, other]) source.wants = [{ kind: 'rescan', isPreferred: source === billed }];
    dispatcher.wake();
    await clock.advance(60_000);
    assert.equal(billed.jobs.length, 0);
    assert.ok(other.jobs.length >= 12, `${other.jobs.length} of one each 5 s`);
  });
});

const DESCRIPTION = { idScheme: 'opaque', roundsIds: false, pageSize: 40, sinceId: true, bulk: 1 } as const;
