import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';

const BIN = resolve(import.meta.dirname, '../../bin/sluice.js');
const DEADLINE_MS = 60_000;

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `bin/sluice.js` as its users do, with nothing of our own environment but PATH. */
export function runSluice(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; nodeArgs?: readonly string[] } = {},
): Promise<Run> {
  const { cwd = folder({}), env = {}, nodeArgs = [] } = options;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return new Promise((done) => {
    const settings = { cwd, env: { PATH, NODE_COMPILE_CACHE, ...env }, timeout: DEADLINE_MS };
    execFile(process.execPath, [...nodeArgs, BIN, ...args], settings, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** A fresh folder with these files, gone after the tests. */
export function folder(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-command-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  after(() => rmSync(dir, { recursive: true }));
  return dir;
}
