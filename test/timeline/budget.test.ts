import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { createDayCount } from '../../src/timeline/day-count.ts';
import type { Seat } from '../../src/timeline/seat.ts';
import type { Share } from '../../src/timeline/windows.ts';
import type { NamedLimit } from '../../src/upstreams/upstream.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { ask, createDesk, limitIn, never, takeTurn } from './budget-desk.ts';

const PAGING = { requests: 300, windowMs: 900_000, counts: 'pages' } as const;
const HIDDEN = { requests: 1, windowMs: 1100, counts: 'all' } as const;

/** How many requests a share sends in `ms`, each as soon as it may. */
async function sentWithin(clock: VirtualClock, seat: Seat, share: Share, ms: number): Promise<number> {
  const endMs = clock.elapsedMs + ms;
  let sent = 0;
  for (;;) {
    const waitMs = seat.waitMs(share, { queue: true });
    if (clock.elapsedMs + waitMs >= endMs) return sent;
    await clock.advance(waitMs);
    if (waitMs > 0) continue;
    await takeTurn(seat, share);
    sent += 1;
  }
}

function refuse(seat: Seat, error: UpstreamError, kind: 'page' | 'byId' = 'page'): Promise<void> {
  const failing = async () => Promise.reject(error);
  return assert.rejects(seat.send({ share: 'poll', kind, signal: never }, failing), error);
}

function limited(retryAtMs: number, told: { endpoint?: boolean; guessed?: boolean } = {}): UpstreamError {
  return new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs, ...told, status: 429 });
}

describe('the budget of a token', () => {
  it('gives polls 70 %, fills and sweeps 20 % of what the headers allow, and at most 90 % where others leave theirs', async () => {
    for (const [share, least, most] of [
      ['poll', 0.7, 0.9],
      ['fill', 0.5, 0.9],
      ['sweep', 0.5, 0.9],
    ] as const) {
      const { clock, seat } = createDesk();
      const town = await seat();
      await ask(town, 'poll', limitIn(clock, [300, 300, 300_000]));
      const sent = await sentWithin(clock, town, share, 299_000);
      assert.ok(sent >= 300 * least && sent <= 300 * most, `${share}: ${sent} of 300`);
    }
  });

  it('polls every 4.3 s at first under 300 per 15 min, sooner where fills and sweeps leave theirs', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [300, 300, 900_000]));
    const first = await sentWithin(clock, town, 'poll', 43_000);
    assert.ok(first >= 9 && first <= 11, `${first} in 43 s`);
    await sentWithin(clock, town, 'poll', 600_000);
    const later = await sentWithin(clock, town, 'poll', 43_000);
    assert.ok(later > first && later <= 13, `${later} in 43 s`);
  });

  it('never lends what fills may still need', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [300, 300, 300_000]));
    await sentWithin(clock, town, 'poll', 150_000);
    const [polls, fills] = [0, 0];
    const sent = { poll: polls, fill: fills };
    while (clock.elapsedMs < 299_000) {
      for (const share of ['fill', 'poll'] as const) {
        if (town.waitMs(share, { queue: true }) > 0) continue;
        await takeTurn(town, share);
        sent[share] += 1;
      }
      await clock.advance(100);
    }
    assert.ok(sent.fill >= 29, `${sent.fill} fills in 150 s at one in 5 s`);
    assert.ok(sent.poll >= 105, `${sent.poll} polls`);
  });

  it('lets a walk of several pages pass, and has its next poll wait for them', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [100, 100, 70_000]));
    await clock.advance(1000);
    await takeTurn(town, 'poll', 3);
    const waitMs = town.waitMs('poll');
    assert.ok(waitMs >= 2500 && waitMs < 3100, `three times 0.7 s / 70 to 90 %: ${waitMs} ms`);
    assert.equal(town.waitMs('fill'), 0, 'the shares are apart');
    await clock.advance(waitMs + 10_000);
    await takeTurn(town, 'poll', 10);
    const afterMs = town.waitMs('poll');
    assert.ok(afterMs < 2500, `ten turns had gone by unused: ${afterMs} ms`);
  });

  it('lets a gap that opens be filled with what nobody used, and leaves the polls theirs', async () => {
    for (const throttles of [[], [PAGING]]) {
      const { clock, seat } = createDesk();
      const town = await seat({ throttles });
      await ask(town, 'poll', limitIn(clock, [300, 300, 900_000]));
      assert.equal(town.waitMs('fill'), 0);
      await clock.advance(300_000);
      let fills = 0;
      for (; town.waitMs('fill', { queue: true }) === 0; fills += 1) await takeTurn(town, 'fill');
      assert.ok(fills >= 15 && fills <= 60, `${fills} at once, of 100 that nobody used in 5 min`);
      const polls = await sentWithin(clock, town, 'poll', 590_000);
      assert.ok(polls >= 0.7 * 195, `${polls} polls in the other 10 min`);
    }
  });

  it('breaks a walk off before it takes what the others need', async () => {
    const { clock, seat } = createDesk();
    const [town] = await Promise.all([seat(), seat(), seat()]);
    await ask(town, 'poll', limitIn(clock, [40, 40, 400_000]));
    let pages = 0;
    while (town.mayGoOn()) {
      await ask(town, 'poll');
      pages += 1;
    }
    assert.ok(pages >= 20 && pages <= 26, `${pages} pages`);
  });

  it('does not pace polls where nothing tells how much is allowed, but gaps, sweeps and reads by id', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    for (const share of ['poll', 'fill', 'sweep'] as const) await takeTurn(town, share);
    assert.deepEqual([town.waitMs('poll'), town.waitMs('fill') > 0, town.waitMs('sweep') > 0], [0, true, true]);
    let byId = 0;
    for (let n = 0; n < 600; n += 1) {
      if (town.mayFetchById()) byId += 1;
      await clock.advance(1000);
    }
    assert.ok(byId >= 60 && byId <= 75, `${byId} in 10 min`);
  });
});

describe('limits', () => {
  it('let nothing through at remaining 0, also of a success, until the reset', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [15, 0, 60_000]));
    for (const share of ['poll', 'fill', 'sweep'] as const) assert.equal(town.waitMs(share), 60_000);
    assert.equal(town.mayFetchById(), false);
    assert.equal(town.blockedMs(), 60_000);
    await assert.rejects(ask(town, 'poll'), { code: 'RATE_LIMITED', retryAtMs: clock.now() + 60_000 });
    await clock.advance(60_000);
    assert.equal(town.blockedMs(), 0);
  });

  it('hold all at once, whichever was told last', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [300, 10, 900_000]));
    // Mastodon tells the one of which least is left; both are of 300.
    await ask(town, 'poll', limitIn(clock, [300, 5, 200_000]));
    for (let n = 0; n < 5; n += 1) await ask(town, 'fill');
    assert.equal(town.blockedMs(), 200_000);
    await clock.advance(200_000);
    for (let n = 0; n < 4; n += 1) await ask(town, 'fill');
    assert.equal(town.blockedMs(), 700_000);
  });

  it('are of one endpoint where they say so, and of the token where they do not', async () => {
    const { clock, seat } = createDesk();
    const [home, other, search] = await Promise.all([
      seat({ endpoint: 'user' }),
      seat({ endpoint: 'user' }),
      seat({ endpoint: 'search' }),
    ]);
    const reset = { resetAtMs: clock.now() + 900_000 };
    const used: NamedLimit = { name: 'x-rate-limit', limit: 15, remaining: 0, endpoint: true, ...reset };
    const day: NamedLimit = { name: 'x-app-rate-limit', limit: 1000, remaining: 0, endpoint: false, ...reset };
    const tell = (limits: readonly NamedLimit[]) =>
      home.send({ share: 'poll', kind: 'page', signal: never }, async () => ({ limits }));
    await tell([used]);
    assert.deepEqual([home.blockedMs(), other.blockedMs(), search.blockedMs()], [900_000, 900_000, 0]);
    assert.equal(search.mayFetchById(), true);
    search.fetchedById({ requests: 1, error: limited(clock.now() + 60_000, { endpoint: true }) });
    assert.deepEqual([search.blockedMs(), search.mayFetchById()], [0, false], 'reads by id have limits of their own');
    await clock.advance(900_000);
    await tell([
      { ...used, remaining: 9, resetAtMs: clock.now() + 900_000 },
      { ...day, resetAtMs: clock.now() + 3_600_000 },
    ]);
    assert.deepEqual([home.blockedMs(), search.blockedMs()], [3_600_000, 3_600_000]);
  });

  it('are told in the time of the server, whatever the local clock is', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    const serverDateMs = clock.now() - 7_200_000;
    const rateLimit = { limit: 15, remaining: 0, resetAtMs: serverDateMs + 60_000 };
    await town.send({ share: 'poll', kind: 'page', signal: never }, async () => ({ rateLimit, serverDateMs }));
    assert.equal(town.blockedMs(), 60_000);
    for (const stepMs of [-3_600_000, 7_200_000]) {
      clock.step(stepMs);
      assert.equal(town.blockedMs(), 60_000);
    }
  });

  it('are not believed with a reset in the past, nor one in a year', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [15, 0, -1]));
    await ask(town, 'poll', limitIn(clock, [15, 0, 365 * 86_400_000]));
    assert.equal(town.blockedMs(), 0);
  });

  it('go on as they were after a reset, until a reply tells', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    await ask(town, 'poll', limitIn(clock, [10, 0, 60_000]));
    await clock.advance(60_000);
    for (let n = 0; n < 10; n += 1) await refuse(town, new UpstreamError('MALFORMED', 'garbage'));
    assert.ok(town.blockedMs() > 600_000, 'nothing tells when it is over');
  });

  it('that no header tells are counted: 300 reads of timelines in 15 min, reads by id not among them', async () => {
    const { clock, seat } = createDesk();
    const town = await seat({ throttles: [PAGING] });
    const sent = await sentWithin(clock, town, 'poll', 43_000);
    assert.ok(sent >= 10 && sent <= 11, `${sent} polls in 43 s`);
    for (let n = sent; n < 300; n += 1) await ask(town, 'poll');
    assert.ok(town.blockedMs() > 850_000 && town.blockedMs() <= 900_000);
    assert.equal(town.mayFetchById(), true);
    const waitMs = town.blockedMs();
    await clock.advance(waitMs);
    assert.equal(town.blockedMs(), 0);
  });

  it('hold beside those that headers tell', async () => {
    const { clock, seat } = createDesk();
    const town = await seat({ throttles: [PAGING] });
    await ask(town, 'poll', limitIn(clock, [1500, 1500, 300_000]));
    const sent = await sentWithin(clock, town, 'poll', 43_000);
    assert.ok(sent <= 11, `${sent} polls in 43 s`);
  });

  it('yield to a source that names a shorter interval, not to one that names a longer one', async () => {
    for (const [minIntervalMs, isPaced] of [
      [500, false],
      [30_000, true],
    ] as const) {
      const { seat } = createDesk();
      const town = await seat({ throttles: [PAGING], polling: { ownInterval: true, minIntervalMs } });
      await takeTurn(town, 'poll');
      assert.equal(town.waitMs('poll') > 0, isPaced);
    }
  });

  it('of one request a second make a walk wait, not end', async () => {
    const { clock, seat } = createDesk();
    const [home, other] = await Promise.all([seat({ throttles: [HIDDEN] }), seat({ throttles: [HIDDEN] })]);
    const sentAtMs: number[] = [];
    const walk = async (seat: Seat) => {
      for (let page = 0; page < 4; page += 1) {
        assert.equal(seat.mayGoOn(), true);
        await seat.send({ share: 'poll', kind: 'page', signal: never }, async () => {
          sentAtMs.push(clock.elapsedMs);
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
    const { clock, seat } = createDesk();
    let sent = 0;
    const town = await seat({ requestsSent: () => sent });
    sent += 1;
    await ask(town, 'poll', limitIn(clock, [10, 5, 60_000]));
    sent += 4;
    await town.describe(async () => ({ idScheme: 'opaque', roundsIds: false, pageSize: 40, sinceId: true, bulk: 1 }));
    assert.equal(town.blockedMs(), 0);
    sent += 1;
    await ask(town, 'fill');
    assert.ok(town.blockedMs() > 0, 'five were left');
  });

  it('learn from reads by id', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    assert.equal(town.mayFetchById(), true);
    town.fetchedById({ requests: 1, told: { rateLimit: limitIn(clock, [15, 0, 60_000]) } });
    assert.equal(town.blockedMs(), 60_000);
  });
});

describe('a 429', () => {
  it('stops all requests until the time that was told', async () => {
    const { clock, seat } = createDesk();
    const [town, other] = await Promise.all([seat(), seat()]);
    await refuse(town, limited(clock.now() + 90_000));
    assert.deepEqual([town.blockedMs(), other.waitMs('fill')], [90_000, 90_000]);
    clock.step(-3_600_000);
    assert.equal(other.blockedMs(), 90_000, 'no hour longer when the local clock is set back an hour');
  });

  it('that tells no time makes the wait longer each time, whatever is told to remain, until a reply comes', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    const waits: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      await refuse(town, limited(clock.now() + 60_000, { guessed: true }));
      waits.push(town.blockedMs() / 60_000);
      await clock.advance(town.blockedMs());
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 15, 15]);
    await refuse(town, limited(clock.now() + 30_000));
    assert.equal(town.blockedMs(), 30_000, 'as told');
    await clock.advance(30_000);
    await ask(town, 'poll', limitIn(clock, [900, 700, 900_000]));
    await refuse(town, limited(clock.now() + 60_000, { guessed: true }));
    assert.equal(town.blockedMs(), 60_000);
  });

  it('is one refusal for all requests that were under way', async () => {
    const { clock, seat } = createDesk();
    const town = await seat();
    const error = () => limited(clock.now() + 60_000, { guessed: true });
    const refused = Array.from({ length: 5 }, () => refuse(town, error()));
    await Promise.all(refused);
    assert.equal(town.blockedMs(), 60_000);
  });
});

describe('a token that is refused', () => {
  it('is not used by anyone any more', async () => {
    const { seat } = createDesk();
    const [town, other] = await Promise.all([seat(), seat()]);
    let told = 0;
    other.onChange(() => {
      told += 1;
    });
    const error = new UpstreamError('UNAUTHORIZED', 'answered 401', { status: 401 });
    await refuse(town, error);
    assert.equal(told, 1);
    assert.equal(other.stopped(), error);
    for (const share of ['poll', 'fill', 'sweep'] as const) assert.equal(other.waitMs(share), Number.POSITIVE_INFINITY);
    assert.deepEqual([other.mayFetchById(), other.mayGoOn()], [false, false]);
    await assert.rejects(ask(other, 'poll'), error);
  });
});

describe('posts a day', () => {
  it('bound a source alone, its sweeps at half of them, until the next day (UTC)', async () => {
    const { clock, seat } = createDesk();
    const day = createDayCount(100, clock.now);
    const [billed, other] = await Promise.all([seat({ day }), seat()]);
    day.read(50);
    assert.deepEqual([billed.waitMs('sweep'), billed.waitMs('fill'), billed.blockedMs()], [86_400_000, 0, 0]);
    await clock.advance(3_600_000);
    day.read(50);
    const untilMidnightMs = 23 * 3_600_000;
    for (const share of ['poll', 'fill', 'sweep'] as const) assert.equal(billed.waitMs(share), untilMidnightMs);
    assert.deepEqual([billed.mayFetchById(), billed.mayGoOn(), billed.blockedMs()], [false, false, untilMidnightMs]);
    assert.equal(other.waitMs('poll'), 0);
    await clock.advance(untilMidnightMs);
    assert.equal(billed.waitMs('poll'), 0);
  });

  it('that are used up keep no other source waiting', async () => {
    const { clock, seat } = createDesk();
    const day = createDayCount(100, clock.now);
    const [billed, other] = await Promise.all([seat({ day }), seat()]);
    await takeTurn(other, 'sweep');
    day.read(50);
    assert.ok(billed.waitMs('sweep', { queue: true, isPreferred: true }) > 3_600_000);
    const turnMs = other.waitMs('sweep', { queue: true });
    assert.ok(turnMs > 0 && turnMs <= 10_000, `${turnMs} ms`);
    await clock.advance(turnMs);
    assert.ok(billed.waitMs('sweep', { queue: true, isPreferred: true }) > 3_600_000);
    assert.equal(other.waitMs('sweep', { queue: true }), 0);
  });
});
