import { readFile } from 'node:fs/promises';
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

  /** A task that an agent fails with this message. */
  const failedTask = async (message: string): Promise<string> => {
    const agent = await api.agent('reader-1', { capabilities: ['read'] });
    const id = await api.submit({ capability: 'read', max_attempts: 1, payload: { big: 'x'.repeat(9000) } });
    const offer = await agent.begin();
    await agent.fail(offer.delivery_id as string, { code: 'E42', message, retryable: false });
    await api.ended(id);
    return id;
  };

  test('leads from the fleet to the cause of a failure in three clicks, and shows it again after a reload', async () => {
    const id = await failedTask('the page is torn');
    const { page } = watched;
    await open('/');
    await page.getByRole('link', { name: 'Why' }).click();
    await page.getByRole('button', { name: 'REACH_AGENT_ERROR' }).click();
    await page.getByRole('link', { name: id }).click();
    for (const look of ['first', 'after a reload']) {
      expect(look).toBeTruthy();
      await page.getByText('failed: agent reader-1 reported an error (E42): the page is torn').waitFor();
      await page.getByText('To blame: agent').waitFor();
      await page.getByRole('region', { name: 'Deliveries' }).getByText('reader-1').first().waitFor();
      await page.getByText('The first 4 KiB of 8.8 KiB').waitFor();
      const shown = await page.getByLabel('Payload').last().textContent();
      expect(shown?.length).toBeLessThanOrEqual(4096);
      await page.reload();
    }
  });

  test('is gone through by keyboard: search, list, task, back', async () => {
    const id = await failedTask('the page is torn');
    const { page } = watched;
    await open('/');
    await page.getByRole('link', { name: 'reader-1' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('tas');
    await page.keyboard.press('Enter');
    const row = page.getByRole('link', { name: id });
    await row.waitFor();
    const table = page.getByRole('region', { name: 'Tasks' });
    await table.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: id }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('reader');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Agent reader-1' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: id }).waitFor();
  });

  test('holds an agent with a reason, tells why it gets no work, and releases it', async () => {
    await api.agent('reader-1', { capabilities: ['read'] });
    const { page } = watched;
    await open('/agents/reader-1');
    await page.getByText('online').first().waitFor();
    await page.getByLabel('Reason of the hold').fill('new model');
    await page.getByRole('button', { name: 'Hold' }).click();
    await page.getByText('no: held').waitFor();
    expect((await api.agentView('reader-1')).held).toMatchObject({ reason: 'new model' });
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('region', { name: 'Would it get work now?' }).getByText('yes').waitFor();
  });

  test('shows every candidate of a simulation with what passed it over', async () => {
    await api.agent('reader-1', { capabilities: ['read'] });
    await api.agent('reader-2', { capabilities: ['read'] });
    await api.post('agents/reader-2/hold');
    const { page } = watched;
    await open('/route');
    await page.getByLabel('Capability').fill('read');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText('reader-1 would get it').waitFor();
    await page.getByRole('row', { name: /reader-1 .*chosen/ }).waitFor();
    await page.getByRole('row', { name: /reader-2 .*passed over held/ }).waitFor();
  });

  test('says what is missing, and what to do, for an agent that is not there', async () => {
    await open('/agents/nobody');
    await watched.page.getByText(`There is no such thing in namespace ${api.namespace}`).waitFor();
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

  test('saves what a link could not open without the token', async () => {
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${centre.urls[0] as string}/system`);
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    for (const [path, content] of [
      ['/metrics', 'process_cpu_seconds_total'],
      ['/api/openapi.json', '"openapi"'],
    ] as const) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: path }).click();
      expect(await readFile(await (await saved).path(), 'utf8')).toContain(content);
    }
    expect(complaints).toEqual([]);
    await close();
  });
});
