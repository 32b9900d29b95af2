import { cpus, totalmem } from 'node:os';

/** Work that is compared: each gets its turn in every round, so that what slows the machine slows all alike. */
export type Contender = readonly [name: string, work: () => unknown];

/** The median of each contender's rounds, in ms, in the order given. The first round warms up and does not count. */
export async function sideBySide(contenders: readonly Contender[], rounds: number): Promise<readonly number[]> {
  const times = contenders.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [n, [, work]] of contenders.entries()) {
      const fromMs = performance.now();
      await work();
      if (round > 0) times[n]?.push(performance.now() - fromMs);
    }
  }
  return times.map(median);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which this part of them lies, 0 to below 1; NaN of none. */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
}

/** Prints a table in Markdown. */
export function print(title: string, head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const all = [head, head.map(() => '---'), ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => String(row[column] ?? '').length)));
  const line = (row: readonly (string | number)[]) =>
    `| ${row.map((cell, column) => String(cell).padEnd(widths[column] ?? 0)).join(' | ')} |`;
  console.log(`\n### ${title}\n\n${all.map(line).join('\n')}`);
}

/** What the figures were measured on. */
export function machine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  return `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${gib} GiB`;
}

/** Three significant digits. */
export function short(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
