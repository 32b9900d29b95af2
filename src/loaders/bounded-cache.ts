/** The part of a cache that Yoga uses. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** Keeps the `maxEntries` values used last, and none of a key longer than `maxKeyLength` characters. */
export function createBoundedCache<Value>(limits: { maxEntries: number; maxKeyLength: number }): Cache<Value> {
  const values = new Map<string, Value>();
  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key, value) {
      if (key.length > limits.maxKeyLength) return;
      values.delete(key);
      values.set(key, value);
      for (const oldest of values.keys()) {
        if (values.size <= limits.maxEntries) return;
        values.delete(oldest);
      }
    },
  };
}
