import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { CHROMIUM_FLAGS, findChromium } from '../test/require-tools.ts';

/** `npm run picture`: runs the demo, asks for For You in GraphiQL, and writes docs/graphiql.png for the README. */
const executablePath = findChromium();
if (executablePath === undefined) throw new Error('this needs Chromium: apt-get install chromium');

const demo = spawn(process.execPath, ['bin/sluice.js', 'serve'], {
  env: { PATH: process.env.PATH, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_FLAGS] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  await page.goto(await endpoint());
  await page.locator('.graphiql-tab').nth(4).waitFor();
  await page.locator('.graphiql-execute-button').click();
  await page.locator('.graphiql-response').getByText('GENERATED').waitFor();
  await page.screenshot({ path: new URL('graphiql.png', import.meta.url).pathname });
} finally {
  await browser.close();
  demo.kill();
}

async function endpoint(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout })) {
    if (line.startsWith('GraphQL ')) return line.slice('GraphQL '.length).trim();
  }
  throw new Error('the demo did not start');
}
