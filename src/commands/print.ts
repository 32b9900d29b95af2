/** Text from elsewhere as one line of a terminal: no control characters, at most `max` characters. */
export function printable(text: string, max = 300): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** Rows as lines with aligned columns, two spaces between them. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** `2026-11-20T21:52:00.123Z`; undefined for what no date can hold. */
export function isoTime(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** `1.5 s`, `60 s`, `250 ms`. */
export function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}
