import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createPost, createSource, type Edge, openEdge, publish } from '../edge-fixture.ts';
import { CHROMIUM_FLAGS, findChromium } from '../require-tools.ts';

let edge: Edge;
let browser: Browser;
let page: Page;
const asked: string[] = [];
const complaints: string[] = [];

before(async () => {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('this test needs Chromium: apt-get install chromium');
  const town = createSource('town');
  edge = await openEdge({ sources: [town], auth: { kind: 'none', userId: 'demo' } });
  await publish(
    edge,
    town,
    [1, 2, 3].map((seconds) => createPost(town, seconds)),
  );
  browser = await chromium.launch({ executablePath, args: [...CHROMIUM_FLAGS] });
  page = await browser.newPage();
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(`${edge.url}/graphql`);
});

after(async () => {
  await browser?.close();
  await edge?.close();
});

test('GraphiQL opens on the example queries', async () => {
  const tabs = page.locator('.graphiql-tab');
  await tabs.nth(4).waitFor();
  const names = (await tabs.allInnerTexts()).map((name) => name.trim());
  assert.deepEqual(names, ['ForYou', 'ForYouNextPage', 'Timeline', 'CatchUp', 'SourceHealth']);
});

test('the first one runs, and answers with the feed', async () => {
  await page.locator('.graphiql-execute-button').click();
  const answer = page.locator('.graphiql-response');
  await answer.getByText('GENERATED').waitFor();
  // The editor shows spaces as non-breaking ones.
  assert.match(((await answer.textContent()) ?? '').replaceAll('\u00a0', ' '), /post of town, 1 s ago/);
});

test('no request leaves the origin, and the page complains about nothing', () => {
  const elsewhere = asked.filter((url) => !url.startsWith(`${edge.url}/`) && !/^(data|blob):/.test(url));
  assert.deepEqual(elsewhere, []);
  assert.ok(asked.includes(`${edge.url}/graphql`));
  assert.deepEqual(complaints, []);
});
