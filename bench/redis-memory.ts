import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { instanceBytes, reasonBytes } from './redis-memory/instance-bytes.ts';
import { createPool } from './redis-memory/pool.ts';
import { renderReport } from './redis-memory/report.ts';
import { HEAD, instanceRows, notesOf, rowsOf } from './redis-memory/table.ts';
import { type Result, runVariant, VARIANTS } from './redis-memory/variants.ts';
import { claimsOf, isLate } from './redis-memory/verdict.ts';
import { writeBytes } from './redis-memory/write-bytes.ts';
import { machine, print, short } from './side-by-side.ts';

/** What feeds take in a real Redis over a day that passes in minutes, kept in eleven ways, and what becomes of the scrolls. */
const USAGE = `npm run bench:memory -- [options]

  --minutes N   a day passes in so many; 0.5 to 20, default 4: eleven days in 46 min, 50 where one is played again. Below 4 fewer viewers are loaded.
  --viewers N   1,000 to 1,000,000, default 100,000
  --out FILE    the report; default bench-memory.html
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '4' },
    viewers: { type: 'string', default: '100000' },
    out: { type: 'string', default: 'bench-memory.html' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) console.log(USAGE);
else await bench(number('--minutes', values.minutes, 0.5, 20), number('--viewers', values.viewers, 1000, 1_000_000));

async function bench(minutes: number, viewers: number): Promise<void> {
  console.log(machine());
  const pool = createPool(1);
  const each = await instanceBytes(pool);
  print('One instance of 500 items with reasons, by MEMORY USAGE', ['key', 'bytes'], instanceRows(each));
  print(
    'An instance with as many reasons as items, by MEMORY USAGE',
    ['reasons', 'bytes'],
    (await reasonBytes()).map(({ text, bytes }) => [text, bytes.toLocaleString('en')]),
  );
  print(
    'What a page makes Redis write, in bytes',
    ['page', 'append-only file', 'each replica'],
    (await writeBytes(pool)).map(({ page, file, replica }) => [page, short(file), short(replica)]),
  );
  const results: Result[] = [];
  let isAgain = false;
  for (const [n, variant] of VARIANTS.entries()) {
    console.error(`${n + 1} of ${VARIANTS.length}, ${minutes} min: ${variant.name}`);
    let result = await runVariant(variant, { viewers, minutes, pool });
    if (isLate(result) && !isAgain) {
      console.error('again, this once: something else kept the machine busy');
      isAgain = true;
      result = await runVariant(variant, { viewers, minutes, pool });
    }
    results.push(result);
  }
  const rows = rowsOf(results);
  print('Feeds in Redis over a day (`bench:memory`)', HEAD, rows);
  const notes = notesOf(viewers, minutes, results);
  console.log(`\n${notes.join('\n')}\n`);
  const claims = claimsOf(results, each);
  for (const { says, holds } of claims) console.log(`${holds ? 'holds ' : 'MISSED'}  ${says}`);
  writeFileSync(values.out, renderReport({ results, claims, notes, head: HEAD, rows }));
  console.log(`\nReport: ${values.out}`);
  if (claims.some(({ holds }) => !holds)) process.exitCode = 1;
}

function number(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > most) {
    console.error(`${option}: required ${least} to ${most}, got ${text}`);
    process.exit(2);
  }
  return value;
}
