import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ELSEWHERE = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** The browser that the GraphiQL test drives: CHROMIUM, else the first one found on PATH; undefined when there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM) return env.CHROMIUM;
  return onPath(NAMES, env) ?? ELSEWHERE.find(isExecutable);
}

function onPath(names: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
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

/** What the tests need beyond npm, and how they say that it is missing. */
const TOOLS = [
  {
    package: 'chromium',
    find: () => findChromium(),
    missing:
      'The tests need Chromium: on Debian `apt-get install chromium`; elsewhere install Chromium or Chrome, and name it with CHROMIUM=/path/to/it if it is not on PATH.',
  },
  {
    package: 'redis-server',
    find: () => onPath(['redis-server'], process.env),
    missing:
      'The tests need redis-server 7.0 or newer on PATH: on Debian `apt-get install redis-server`; elsewhere see https://redis.io/docs/latest/operate/oss_and_stack/install/',
  },
] as const;

/** Runs before the tests, so that what they need is there, or its absence is an error that says what to do. */
if (import.meta.main) {
  const missing = () => TOOLS.filter(({ find }) => find() === undefined);
  const packages = missing().map((tool) => tool.package);
  if (packages.length > 0 && existsSync('/etc/debian_version') && process.getuid?.() === 0) installOnDebian(packages);
  for (const tool of missing()) {
    console.error(tool.missing);
    process.exitCode = 1;
  }
}

function installOnDebian(packages: readonly string[]): void {
  console.log(`The tests need ${packages.join(' and ')}: installing with apt-get (about a minute) …`);
  // Debian starts a redis-server of its own when the package comes: the tests start theirs.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
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
