import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import type { Api, Json } from '../support/api.js';
import { openPage, startBrowser } from '../support/browser.js';
import { Centre } from '../support/centre.js';
import { describeWith } from '../support/packaged-servers.js';

/** Texts that would run, or break out, wherever one is not shown as text. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  "'-alert(3)-'",
  '</title><svg onload=alert(4)>',
  'javascript:alert(5)',
  '{{constructor.constructor("alert(6)")()}}',
  '%3Cscript%3Ealert(7)%3C/script%3E',
  '<iframe srcdoc="<script>alert(8)</script>">',
  '<a href="javascript:alert(9)">x</a>',
  '&lt;b&gt; ${alert(10)} `x`',
];

/** The pages that show many things, by their path. */
const LISTS = [
  '/',
  '/tasks',
  '/why',
  '/route?capability=work',
  '/events',
  '/capabilities',
  '/topology',
  '/system',
];

/** The pages of one thing. */
const pagesOf = (agent: string, task: string) => [`/agents/${encodeURIComponent(agent)}`, `/tasks/${task}`];

describeWith('chromium', 'chromium')('what agents and callers write, in the console', () => {
  const centre = Centre.ofSuite('embedded');
  let browser: Browser;
  let api: Api;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(() => {
    api = centre.api();
  });

  /** An agent that is called so, and a task that it failed in the same words. */
  const failed = async (words: string): Promise<string> => {
    const agent = await api.agent(words, {
      name: words,
      tags: [words.slice(0, 64)],
      metadata: { note: words },
      capabilities: [{ name: 'work', description: words }],
      dependencies: [{ name: words, type: 'tcp', target: '127.0.0.1:9' }],
    });
    const id = await api.submit({
      agent_id: words,
      capability: 'work',
      payload: { text: words },
      max_attempts: 1,
    });
    const offer = await agent.begin();
    const error = { code: words.slice(0, 60), message: words, dependency: words, raw_error: { words } };
    await agent.fail(offer.delivery_id as string, error);
    await api.ended(id);
    await api.call('POST', `/api/v1/agents/${encodeURIComponent(words)}/hold?namespace=${api.namespace}`, {
      reason: words,
    });
    return id;
  };

  const address = (path: string) => {
    const url = new URL(path, api.url());
    url.searchParams.set('ns', api.namespace);
    return url.href;
  };

  /** Elements that only a text which became markup can have made. */
  const STRAY = `document.querySelectorAll(
    'script:not([src]), iframe, svg[onload], img:not([src="/mark.svg"]), a[href^="javascript"]').length`;

  test('is text on every page, and runs nothing', async () => {
    const { page, complaints, close } = await openPage(browser);
    // Open before anything happens, so that it shows everything.
    const feed = await openPage(browser);
    await feed.page.goto(address('/events'));
    await feed.page.getByText('The feed is open').waitFor();
    const tasks: [words: string, task: string][] = [];
    for (const words of HOSTILE) tasks.push([words, await failed(words)]);

    for (const path of ['/', '/tasks', '/why', '/route?capability=work', '/topology']) {
      await page.goto(address(path));
      for (const words of HOSTILE) await page.getByText(words).first().waitFor({ state: 'attached' });
      expect({ path, made: await page.evaluate(STRAY) }).toEqual({ path, made: 0 });
    }
    for (const [words, task] of tasks) {
      for (const path of pagesOf(words, task)) {
        await page.goto(address(path));
        await page.getByText(words).first().waitFor();
        expect({ path, made: await page.evaluate(STRAY) }).toEqual({ path, made: 0 });
      }
      await feed.page.getByText(words).first().waitFor();
    }
    expect(await feed.page.evaluate(STRAY)).toBe(0);
    expect([...complaints, ...feed.complaints]).toEqual([]);
    await close();
    await feed.close();
  });

  test.each([
    ['en', 'light'],
    ['zh', 'dark'],
  ] as const)('in %s, %s, nothing keeps anyone from using a page', async (language, theme) => {
    const task = await failed('worker-1');
    const { page, complaints, close } = await openPage(browser, { language, theme });
    for (const path of [...LISTS, ...pagesOf('worker-1', task), '/nowhere']) {
      await page.goto(address(path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect({ path, faults: await faultsOf(page) }).toEqual({ path, faults: [] });
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });
});

/** Faults that axe calls serious or critical, each with where it is. */
async function faultsOf(page: Awaited<ReturnType<typeof openPage>>['page']): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
  )) as Json;
  return (violations as Json[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      (nodes as Json[]).map((node) => `${id}: ${node.html} ${node.failureSummary}`),
    );
}
