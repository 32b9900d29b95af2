import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBoundedCache } from '../../src/loaders/bounded-cache.ts';

const keys = ['a', 'b', 'c', 'd', 'e', 'f'];

test('whatever is set and got, the values used last are kept, within both bounds', () => {
  const step = fc.record({ key: fc.constantFrom(...keys), weight: fc.integer({ min: 0, max: 9 }), get: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const cache = createBoundedCache<number>({
        maxEntries: 4,
        maxKeyLength: 1,
        maxWeight: 20,
        weightOf: (own) => own,
      });
      // Used last at the end.
      let model: (readonly [string, number])[] = [];
      const without = (key: string) => model.filter(([other]) => other !== key);
      for (const { key, weight, get } of steps) {
        const known = model.find((one) => one[0] === key);
        if (get) {
          assert.equal(cache.get(key), known?.[1]);
          if (known) model = [...without(key), known];
          continue;
        }
        cache.set(key, weight);
        model = [...without(key), [key, weight]];
        while (model.length > 4 || model.reduce((sum, one) => sum + one[1], 0) > 20) model.shift();
      }
      for (const [key, weight] of model) assert.equal(cache.get(key), weight);
      const left = new Set(model.map(([key]) => key));
      for (const key of keys) if (!left.has(key)) assert.equal(cache.get(key), undefined);
    }),
  );
});

test('a value that is too heavy by itself, or whose key is too long, is not kept', () => {
  const cache = createBoundedCache<number>({ maxEntries: 4, maxKeyLength: 1, maxWeight: 20, weightOf: (own) => own });
  cache.set('a', 21);
  cache.set('bb', 1);
  cache.set('c', 20);
  assert.deepEqual(['a', 'bb', 'c'].map(cache.get), [undefined, undefined, 20]);
});
