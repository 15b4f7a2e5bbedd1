import type { Browser } from 'playwright-core';
import { AgentProcess } from '../support/agent-process.js';
import type { Api } from '../support/api.js';
import { openPage, startBrowser, type WatchedPage } from '../support/browser.js';
import { Centre } from '../support/centre.js';
import { describeWith } from '../support/packaged-servers.js';

const TOKEN = 'a-token-of-some-length';

describeWith('chromium', 'chromium')('the console', () => {
  const centre = Centre.ofSuite('embedded');
  let browser: Browser;
  let watched: WatchedPage;
  let api: Api;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    api = centre.api();
    watched = await openPage(browser);
  });
  afterEach(async () => {
    await watched.close();
    expect(watched.complaints).toEqual([]);
  });

  /** Opens an address in the namespace of the case. */
  const open = (path: string) => watched.page.goto(`${api.url()}${path}?ns=${api.namespace}`);

  test('shows an agent, and within 3 s of its death that it is gone and why', async () => {
    const agent = await AgentProcess.start(api, centre.urls, 'writer-1', { leaseTtlMs: 1000 });
    await open('/');
    const { page } = watched;
    const row = page.getByRole('row', { name: /writer-1/ });
    await row.getByText('online').waitFor();
    await agent.kill9();
    await row.getByText(/suspicious|offline/).waitFor({ timeout: 3000 });
    await row.getByText(/session broken|lease expired/).waitFor({ timeout: 3000 });
    await row.getByText('offline').waitFor({ timeout: 3000 });
  });

  test('says what to do where nothing is registered, and keeps the filter of a link over a reload', async () => {
    const { page } = watched;
    await open('/');
    await page.getByText(`Nothing has registered in namespace ${api.namespace}`).waitFor();
    await api.agent('reader-1', { capabilities: ['read'] });
    await api.agent('writer-1', { capabilities: ['write'] });
    await page.getByRole('link', { name: 'reader-1' }).waitFor();
    await page.getByLabel('Capability').fill('write');
    await page.getByRole('link', { name: 'reader-1' }).waitFor({ state: 'hidden' });
    await page.reload();
    await page.getByRole('link', { name: 'writer-1' }).waitFor();
    expect(await page.getByRole('link', { name: 'reader-1' }).count()).toBe(0);
    expect(await page.getByLabel('Capability').inputValue()).toBe('write');
  });
});

describeWith('chromium', 'chromium')('the console of a guarded server', () => {
  const centre = Centre.ofSuite('embedded', { env: { REACH_AUTH_TOKENS: TOKEN } });
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test('asks for the token, says when it is wrong, and keeps it for the tab', async () => {
    const { page, complaints, close } = await openPage(browser);
    await page.goto(centre.urls[0] as string);
    await page.getByLabel('Token').fill('not-the-right-token-x');
    await page.keyboard.press('Enter');
    await page.getByText('The server does not know this token').waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('No agents here').waitFor();
    await page.reload();
    await page.getByText('No agents here').waitFor();
    expect(page.url()).not.toContain(TOKEN);
    expect(complaints).toEqual([]);
    await close();
  });
});
