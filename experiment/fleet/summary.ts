import { FAILOVER_MS, regularMs } from './options.ts';
import type { FleetResult } from './run.ts';

/** What must hold, and does not: one sentence each. */
export function fleetFailures({ options, tokens, sources }: FleetResult): readonly string[] {
  const { throttle, headers } = options;
  const mostUnpolledMs = regularMs(options) * 1.5 + FAILOVER_MS;
  return [
    ...tokens.flatMap(({ mostThrottled, mostOfAll, refused }, n) => [
      ...(mostThrottled > throttle.requests
        ? [
            `token ${n} sent ${mostThrottled} requests within ${seconds(throttle.windowMs)}, allowed ${throttle.requests}`,
          ]
        : []),
      ...(mostOfAll > headers.requests
        ? [
            `token ${n} sent ${mostOfAll} requests within ${seconds(headers.windowMs)}, the headers allow ${headers.requests}`,
          ]
        : []),
      ...(refused > 0 ? [`token ${n} was answered 429 ${refused} times`] : []),
    ]),
    ...sources.flatMap(({ key, unpolledMs, unpolledFromMs, missing, twice }) => [
      ...(unpolledMs > mostUnpolledMs
        ? [
            `${key} was not polled for ${seconds(unpolledMs)} from ${seconds(unpolledFromMs)} on, at most ${seconds(mostUnpolledMs)}`,
          ]
        : []),
      ...(missing > 0 ? [`${key} misses ${missing} posts`] : []),
      ...(twice > 0 ? [`${key} has ${twice} posts twice`] : []),
    ]),
  ];
}

/** The figures as text. */
export function fleetTable({ options, faults, tokens, sources }: FleetResult): string {
  const { throttle, headers } = options;
  const longest = sources.toSorted((a, b) => b.unpolledMs - a.unpolledMs)[0];
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return [
    `${options.gateways} gateways, ${sources.length} sources, ${tokens.length} tokens, ${seconds(options.runMs)}, seed ${options.seed}`,
    ...faults.map(
      ({ atMs, gateway, kind, forMs }) => `${seconds(atMs)}: gateway ${gateway}, ${kind} for ${seconds(forMs)}`,
    ),
    '',
    ...tokens.map(
      ({ requests, refused, mostThrottled, mostOfAll }, n) =>
        `token ${n}: ${requests} requests, most within ${seconds(throttle.windowMs)}: ${mostThrottled} of ${throttle.requests}, ` +
        `within ${seconds(headers.windowMs)}: ${mostOfAll} of ${headers.requests}, 429: ${refused}`,
    ),
    `longest without a poll: ${longest?.key} ${seconds(longest?.unpolledMs ?? 0)} from ${seconds(longest?.unpolledFromMs ?? 0)} on ` +
      `(a poll each ${seconds(regularMs(options))} where nothing fails, failover ${seconds(FAILOVER_MS)})`,
    `polls ${sum(sources.map(({ polls }) => polls))}, missing ${sum(sources.map(({ missing }) => missing))}, twice ${sum(sources.map(({ twice }) => twice))}`,
  ].join('\n');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
