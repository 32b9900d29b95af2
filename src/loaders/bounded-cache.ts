/** The part of a cache that Yoga uses. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/**
 * Keeps the values used last: `maxEntries` of them, whose weights add up to `maxWeight` where they are weighed, and none of
 * a key longer than `maxKeyLength` characters.
 */
export function createBoundedCache<Value>(limits: {
  maxEntries: number;
  maxKeyLength: number;
  maxWeight?: number;
  /** Asked once, when a value is set. */
  weightOf?: (value: Value) => number;
}): Cache<Value> {
  const { maxEntries, maxKeyLength, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = limits;
  const kept = new Map<string, { value: Value; weight: number }>();
  let weight = 0;

  function drop(key: string) {
    weight -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  }

  return {
    get(key) {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },
    set(key, value) {
      if (key.length > maxKeyLength) return;
      drop(key);
      const added = { value, weight: weightOf(value) };
      kept.set(key, added);
      weight += added.weight;
      for (const oldest of kept.keys()) {
        if (kept.size <= maxEntries && weight <= maxWeight) return;
        drop(oldest);
      }
    },
  };
}
