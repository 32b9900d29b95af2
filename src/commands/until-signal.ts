/**
 * The name of the first SIGTERM or SIGINT. Those that follow change nothing: a terminal sends its interrupt to npm and to
 * us, and npm passes on its own.
 */
export function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve(signal));
  });
}
