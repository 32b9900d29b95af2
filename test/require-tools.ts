import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ELSEWHERE = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** The browser that the GraphiQL test drives: CHROMIUM, else the first one found on PATH; undefined when there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM) return env.CHROMIUM;
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...ELSEWHERE].find(isExecutable);
}

/** For a test's Chromium: without a sandbox of its own, and with nothing of its own leaving the machine. */
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
] as const;

/** Runs before the tests, so that what they need beyond npm is there, or its absence is an error that says what to do. */
if (import.meta.main) {
  if (findChromium() === undefined && existsSync('/etc/debian_version') && process.getuid?.() === 0) installOnDebian();
  if (findChromium() === undefined) {
    console.error(
      'The tests need Chromium: on Debian `apt-get install chromium`; elsewhere install Chromium or Chrome, and name it with CHROMIUM=/path/to/it if it is not on PATH.',
    );
    process.exitCode = 1;
  }
}

function installOnDebian(): void {
  console.log('The browser test needs Chromium: installing it with apt-get (about a minute) …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    const { status } = spawnSync('apt-get', ['-q', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) return;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
