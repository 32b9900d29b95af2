import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrivalOrderKey, idScheme, recogniseIdScheme } from '../../src/ids/id-scheme.ts';
import type { IdSchemeName } from '../../src/post.ts';

const NOW = Date.UTC(2026, 10, 20, 21, 52, 0, 123);
const EPOCHS = { mastodon: 0, twitter: 1288834974657, pixelfed: 1549756800000, takahe: 1641020400000 };
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Digits of `value` by repeated division, independent of the code under test. */
function digits(value: bigint, alphabet: string, length: number): string {
  const base = BigInt(alphabet.length);
  return Array.from({ length }, (_, at) => alphabet[Number((value / base ** BigInt(length - 1 - at)) % base)]).join('');
}

function uuidv7(timeMs: number, random: bigint): string {
  const time = timeMs.toString(16).padStart(12, '0');
  const rest = random.toString(16).padStart(19, '0');
  const variant = (8 + (Number.parseInt(rest.slice(3, 4), 16) % 4)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-${variant}${rest.slice(4, 7)}-${rest.slice(7)}`;
}

const MAKERS: Readonly<Record<Exclude<IdSchemeName, 'opaque'>, (timeMs: number, random: bigint) => string>> = {
  mastodon: (timeMs, random) => String((BigInt(timeMs) << 16n) | BigInt.asUintN(16, random)),
  twitter: (timeMs, random) => String((BigInt(timeMs - EPOCHS.twitter) << 22n) | BigInt.asUintN(22, random)),
  pixelfed: (timeMs, random) => String((BigInt(timeMs - EPOCHS.pixelfed) << 22n) | BigInt.asUintN(22, random)),
  takahe: (timeMs, random) => String((BigInt(timeMs - EPOCHS.takahe) << 22n) | BigInt.asUintN(22, random)),
  flake: (timeMs, random) => digits((BigInt(timeMs) << 64n) | BigInt.asUintN(64, random), BASE62, 18),
  ulid: (timeMs, random) => digits((BigInt(timeMs) << 80n) | random, CROCKFORD, 26),
  uuidv7: (timeMs, random) => uuidv7(timeMs, BigInt.asUintN(76, random)),
};
const NAMES = Object.keys(MAKERS) as (keyof typeof MAKERS)[];

const random = fc.oneof(fc.constant(0n), fc.constant(2n ** 80n - 1n), fc.bigInt({ min: 0n, max: 2n ** 80n - 1n }));
/** Takahe's epoch is 2022; Twitter's 41 bits end in July 2080. */
const timeMs = fc.integer({ min: Date.UTC(2022, 1), max: Date.UTC(2080, 0) });
const nearby = fc.tuple(timeMs, fc.integer({ min: -2, max: 2 })).map(([time, off]) => [time, time + off] as const);

for (const name of NAMES) {
  const scheme = idScheme(name);
  const make = MAKERS[name];

  test(`${name}: the time of an id is the time it was made`, () => {
    fc.assert(
      fc.property(timeMs, random, (time, bits) => {
        assert.ok(scheme.includes(make(time, bits)));
        assert.equal(scheme.timeMs(make(time, bits)), time);
      }),
    );
  });

  test(`${name}: order keys have one width and sort as the ids do: by time, then by the rest`, () => {
    fc.assert(
      fc.property(nearby, random, random, ([timeA, timeB], bitsA, bitsB) => {
        const [a, b] = [make(timeA, bitsA), make(timeB, bitsB)];
        const order =
          name === 'flake' || name === 'ulid' || name === 'uuidv7' ? compare(a, b) : compare(BigInt(a), BigInt(b));
        assert.equal(compare(scheme.orderKey(a), scheme.orderKey(b)), order);
        if (timeA !== timeB) assert.equal(order, compare(timeA, timeB));
        assert.match(scheme.orderKey(a), /^1[0-9a-f]{32}$/);
      }),
    );
  });

  test(`${name}: the floor of a time lies below every id of that time and above every id of before, in the same form`, () => {
    fc.assert(
      fc.property(timeMs, random, (time, bits) => {
        const floor = scheme.floor(time) ?? '';
        assert.ok(scheme.includes(floor));
        assert.equal(floor.length, make(time, bits).length);
        assert.ok(scheme.orderKey(floor) < scheme.orderKey(make(time, bits)));
        assert.ok(scheme.orderKey(floor) >= scheme.orderKey(make(time - 1, bits)));
      }),
    );
  });

  test(`${name}: just below an id lies the next lower one, in the same form`, () => {
    fc.assert(
      fc.property(timeMs, random, (time, bits) => {
        const id = make(time, bits);
        const below = scheme.justBelow(id) ?? '';
        assert.ok(scheme.includes(below));
        const step = BigInt(`0x${scheme.orderKey(id).slice(1)}`) - BigInt(`0x${scheme.orderKey(below).slice(1)}`);
        assert.equal(step, 1n);
      }),
    );
  });

  test(`${name}: an order key tells the time of its id, with a place beside it, too`, () => {
    fc.assert(
      fc.property(timeMs, random, (time, bits) => {
        const key = scheme.orderKey(make(time, bits));
        assert.equal(scheme.keyTimeMs(key), time);
        assert.equal(scheme.keyTimeMs(`${key}00000000ffffffff`), time);
        assert.equal(scheme.keyTimeMs(scheme.orderKey('another form!')), undefined);
      }),
    );
  });

  test(`${name}: the floor key of a time lies below every key of that time and above every one of before`, () => {
    fc.assert(
      fc.property(timeMs, random, (time, bits) => {
        assert.ok(scheme.floorKey(time) < scheme.orderKey(make(time, bits)));
        assert.ok(scheme.floorKey(time) >= scheme.orderKey(make(time - 1, bits)));
        assert.equal(scheme.floorKey(time), scheme.orderKey(scheme.floor(time) ?? ''));
      }),
    );
  });

  test(`${name}: the id below an order key is an exclusive since_id whose reply holds its post, and max_id of what lies below a place`, () => {
    fc.assert(
      fc.property(timeMs, random, fc.integer({ min: 0, max: 20 }), (time, bits, steps) => {
        const key = scheme.orderKey(make(time, bits));
        const below = scheme.orderKey(scheme.idBelow(key, steps) ?? '');
        assert.equal(BigInt(`0x${key.slice(1)}`) - BigInt(`0x${below.slice(1)}`), BigInt(steps));
        assert.equal(scheme.idBelow(`${key}00000000ffffffff`, 0), make(time, bits));
        assert.equal(scheme.idBelow(scheme.orderKey('another form!')), undefined);
      }),
    );
  });

  test(`${name}: any text gets an order key, below all ids when it is of another form`, () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9a-zA-Z-]{0,40}$/)),
        (text) => {
          assert.match(scheme.orderKey(text), /^[01][0-9a-f]{32}$/);
          if (scheme.includes(text)) return;
          assert.ok(scheme.orderKey(text) < scheme.orderKey(make(Date.UTC(2022, 1), 0n)));
          assert.equal(scheme.timeMs(text), undefined);
          assert.equal(scheme.justBelow(text), undefined);
        },
      ),
    );
  });

  test(`${name}: a time out of all bounds gives the lowest or highest id`, () => {
    assert.ok(compare(scheme.orderKey(scheme.floor(-1e15) ?? ''), scheme.orderKey(make(Date.UTC(2022, 1), 0n))) < 0);
    assert.ok(scheme.includes(scheme.floor(8.64e15) ?? ''));
    assert.ok(compare(scheme.orderKey(scheme.floor(8.64e15) ?? ''), scheme.orderKey(make(Date.UTC(2080, 0), 0n))) > 0);
  });
}

test('the floors are those of the table in upstreams.md', () => {
  const floor = (name: IdSchemeName): string | undefined => idScheme(name).floor(NOW);
  assert.equal(floor('mastodon'), String((BigInt(NOW) << 16n) - 1n));
  assert.equal(floor('twitter'), String((BigInt(NOW - EPOCHS.twitter) << 22n) - 1n));
  assert.equal(floor('pixelfed'), String((BigInt(NOW - EPOCHS.pixelfed) << 22n) - 1n));
  assert.equal(floor('takahe'), String((BigInt(NOW - EPOCHS.takahe) << 22n) - 1n));
  assert.equal(floor('flake'), digits((BigInt(NOW) << 64n) - 1n, BASE62, 18));
  assert.equal(floor('ulid'), digits(BigInt(NOW - 1), CROCKFORD, 10) + 'Z'.repeat(16));
  const time = (NOW - 1).toString(16).padStart(12, '0');
  assert.equal(floor('uuidv7'), `${time.slice(0, 8)}-${time.slice(8)}-7fff-bfff-ffffffffffff`);
});

test('a borrow crosses the version and the variant of a UUID without touching them', () => {
  assert.equal(
    idScheme('uuidv7').justBelow('01a1fabd-c128-7000-8000-000000000000'),
    '01a1fabd-c127-7fff-bfff-ffffffffffff',
  );
});

test("Pleroma's legacy ids are decimals below all flakes", () => {
  const flake = idScheme('flake');
  const first = MAKERS.flake(Date.UTC(2018, 0), 0n);
  const sorted = [first, '99999999999999999', '1000', '999', '9'].map((id) => flake.orderKey(id));
  assert.deepEqual(sorted, sorted.toSorted().reverse());
  assert.equal(flake.timeMs('999'), undefined);
  assert.equal(flake.justBelow('1000'), '999');
  assert.equal(flake.justBelow(digits(2n ** 64n, BASE62, 18)), '99999999999999999');
});

test('sequential ids of before Snowflake have no time', () => {
  assert.equal(idScheme('twitter').timeMs('20'), undefined);
  assert.equal(idScheme('twitter').timeMs('29700859247'), undefined);
  assert.equal(idScheme('mastodon').timeMs('1234567'), undefined);
  assert.equal(idScheme('twitter').timeMs('1460323737035677698'), Date.UTC(2021, 10, 15, 19, 8, 5, 69));
});

test('nothing lies below the lowest id, and Twitter is never asked since 0', () => {
  assert.equal(idScheme('mastodon').justBelow('1'), '0');
  assert.equal(idScheme('twitter').justBelow('1'), undefined);
  assert.equal(idScheme('twitter').floor(0), '1');
  assert.equal(idScheme('ulid').justBelow('0'.repeat(26)), undefined);
});

const FOREIGN: Readonly<Record<Exclude<IdSchemeName, 'opaque'>, readonly string[]>> = {
  mastodon: ['', '0', '01', '-1', '1.0', 'abc', '9223372036854775808', '1'.repeat(100_000), '117 ', '٣'],
  twitter: ['', '0x10', '1e18'],
  pixelfed: ['1_000'],
  takahe: ['+1'],
  flake: ['', '0', '000000000000000000', 'A1b2', '9umDrYheeY451cQnE', '9umDrYheeY451cQnEe_', '123456789012345678901'],
  ulid: [
    '81M7XD42BHGR2SX1DZJ9EEQZ3E',
    '01M7XD42BHGR2SX1DZJ9EEQZ3U',
    '01m7xd42bhgr2sx1dzj9eeqz3e',
    '01M7XD42BHGR2SX1DZJ9EEQZ3',
  ],
  uuidv7: [
    '01a1fabd-c128-4e38-9c3b-58469c0cfd7e',
    '01a1fabd-c128-7e38-cc3b-58469c0cfd7e',
    '01A1FABD-C128-7E38-9C3B-58469C0CFD7E',
    '01a1fabdc1287e389c3b58469c0cfd7e',
  ],
};
for (const name of NAMES) {
  test(`${name} does not include ids of another form`, () => {
    for (const id of FOREIGN[name]) assert.equal(idScheme(name).includes(id), false, id.slice(0, 40));
  });
}

test('mastodon: the id 17 below an order key lies below it as a double, too, which comes in steps of 16', () => {
  const { orderKey, idBelow } = idScheme('mastodon');
  fc.assert(
    fc.property(fc.integer({ min: NOW - 1000, max: NOW + 1000 }), random, (time, bits) => {
      const id = MAKERS.mastodon(time, bits);
      assert.ok(Number(idBelow(orderKey(id), 17)) < Number(id));
    }),
  );
});

test('no id lies below the lowest', () => {
  assert.equal(idScheme('twitter').idBelow(idScheme('twitter').orderKey('1'), 5), '1');
  assert.equal(idScheme('mastodon').idBelow(idScheme('mastodon').orderKey('1'), 5), '0');
});

test('order keys of opaque ids are placed, and tell when they were first seen', () => {
  const opaque = idScheme('opaque');
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat(1000), (atMs, n) => {
      const key = arrivalOrderKey(atMs, n);
      assert.equal(opaque.keyTimeMs(key), atMs);
      assert.equal(opaque.keyTimeMs(`${key}00000000ffffffff`), atMs);
      assert.ok(opaque.floorKey(atMs) < key && (atMs === 0 || arrivalOrderKey(atMs - 1, n) < opaque.floorKey(atMs)));
      assert.equal(opaque.idBelow(key), undefined);
    }),
  );
  assert.equal(opaque.keyTimeMs(opaque.orderKey('any')), undefined);
  assert.ok(opaque.orderKey('any') < opaque.floorKey(-5));
});

test('opaque ids get no arithmetic', () => {
  const opaque = idScheme('opaque');
  assert.equal(opaque.includes('17952081090ab75df2ee00386c1afcbfe91386d5bd'), true);
  assert.equal(opaque.floor(NOW), undefined);
  assert.equal(opaque.justBelow('117020594094055884'), undefined);
  assert.equal(opaque.timeMs('117020594094055884'), undefined);
});

test('opaque ids sort in the order in which they were first seen, as wide as other keys and above foreign ones', () => {
  const seen = fc.tuple(fc.maxSafeNat(), fc.maxSafeNat());
  fc.assert(
    fc.property(seen, seen, ([atA, a], [atB, b]) => {
      const order = compare(arrivalOrderKey(atA, a), arrivalOrderKey(atB, b));
      assert.equal(order, compare(atA, atB) || compare(a, b));
      assert.equal(arrivalOrderKey(atA, a).length, idScheme('ulid').orderKey('x').length);
      assert.ok(idScheme('opaque').orderKey('x') < arrivalOrderKey(atA, a));
    }),
  );
  assert.throws(() => arrivalOrderKey(-1, 0), RangeError);
  assert.throws(() => arrivalOrderKey(0, Number.NaN), RangeError);
});

const SOFTWARE: readonly (readonly [string, IdSchemeName])[] = [
  ['mastodon 4.3.1', 'mastodon'],
  ['Mastodon 4.4.0+glitch', 'mastodon'],
  ['glitch-soc 4.4', 'mastodon'],
  ['hometown 1.1', 'mastodon'],
  ['pixelfed 0.12', 'pixelfed'],
  ['takahe 0.11', 'takahe'],
  ['pleroma 2.5', 'flake'],
  ['2.7.2 (compatible; Akkoma 3.10.4)', 'flake'],
  ['gotosocial 0.19.2+git-90851fc', 'ulid'],
  ['hollo 0.10.0', 'uuidv7'],
  ['twitter', 'twitter'],
  ['misskey 2025.1', 'opaque'],
  ['sharkey 2025.1', 'opaque'],
  ['2.8.0 (compatible; Friendica 2024.12)', 'opaque'],
  ['snac 2.94', 'opaque'],
  ['4.0.0 (not true; really snac/2.94)', 'opaque'],
  ['somethingnew 1', 'opaque'],
  ['constructor', 'opaque'],
  ['', 'opaque'],
];
for (const [software, expected] of SOFTWARE) {
  test(`a server that calls itself "${software}" has ${expected} ids, as long as none was seen`, () => {
    assert.equal(recogniseIdScheme({ software }), expected);
    assert.equal(recogniseIdScheme({ software, ids: [] }), expected);
  });
}

test('a name is kept when the ids have its form, and given up when one contradicts it', () => {
  for (const name of NAMES) {
    const software = SOFTWARE.find(([, scheme]) => scheme === name)?.[0] ?? '';
    const ids = [MAKERS[name](NOW, 1n), MAKERS[name](NOW - 86_400_000, 7n)];
    assert.equal(recogniseIdScheme({ software, ids }), name);
    assert.equal(
      recogniseIdScheme({ software, ids: [...ids, '17952081090ab75df2ee00386c1afcbfe91386d5bd'] }),
      'opaque',
    );
  }
});

test('old sequential ids beside timed ones do not contradict a name, alone they do', () => {
  assert.equal(recogniseIdScheme({ software: 'mastodon 4.3', ids: [MAKERS.mastodon(NOW, 1n), '4711'] }), 'mastodon');
  assert.equal(recogniseIdScheme({ software: 'mastodon 4.3', ids: ['4711', '4712'] }), 'opaque');
});

test('ids of an implausible time contradict a name', () => {
  assert.equal(recogniseIdScheme({ software: 'mastodon 4.3', ids: [MAKERS.twitter(NOW, 1n)] }), 'opaque');
  assert.equal(recogniseIdScheme({ software: 'gotosocial 1', ids: ['00000000010000000000000000'] }), 'opaque');
});

test('without a name only ULIDs and UUIDv7s of plausible times are taken by their shape', () => {
  assert.equal(recogniseIdScheme({ ids: [MAKERS.ulid(NOW, 5n)] }), 'ulid');
  assert.equal(recogniseIdScheme({ ids: [MAKERS.uuidv7(NOW, 5n)] }), 'uuidv7');
  assert.equal(recogniseIdScheme({ ids: [MAKERS.ulid(NOW, 5n), MAKERS.uuidv7(NOW, 5n)] }), 'opaque');
  assert.equal(recogniseIdScheme({ ids: [MAKERS.ulid(1, 5n)] }), 'opaque');
  for (const name of ['mastodon', 'twitter', 'pixelfed', 'takahe', 'flake'] as const) {
    assert.equal(recogniseIdScheme({ ids: [MAKERS[name](NOW, 5n)] }), 'opaque', name);
  }
  assert.equal(recogniseIdScheme({}), 'opaque');
});

test('no evidence makes recognition fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (software, ids) => {
      assert.ok([...NAMES, 'opaque'].includes(recogniseIdScheme({ software, ids })));
    }),
  );
});

function compare<T extends string | number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
