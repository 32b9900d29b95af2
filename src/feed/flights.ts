/** Work that several callers share while it is under way. */
export interface Flights<T> {
  /** Starts `work`, or joins what is under way under this key. The work goes on when its callers are gone. */
  share(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is under way; never rejects. */
  drain(): Promise<void>;
}

/** Holds no more than what is under way. */
export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Promise<T>>();
  return {
    share(key, work) {
      const joined = flights.get(key);
      if (joined) return joined;
      const flight = work().finally(() => flights.delete(key));
      flights.set(key, flight);
      // A caller that has gone must not turn a failure into an unhandled one.
      flight.catch(() => {});
      return flight;
    },
    async drain() {
      while (flights.size > 0) await Promise.allSettled(flights.values());
    },
  };
}
