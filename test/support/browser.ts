import { spawnSync } from 'node:child_process';
import { type Browser, chromium, type Page } from 'playwright-core';

/** A page of the console, and everything that it must not do. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts, messages of the console that are errors, and what the security policy stopped. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** Where Debian's Chromium stands. */
function executable(): string {
  return spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim();
}

/** Headless Chromium. It runs as root on CI, where its sandbox does not start. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executable(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A new page with a session of its own. A refused call is told to the console by the browser itself, and is no fault. */
export async function openPage(
  browser: Browser,
  settings: { language?: 'en' | 'zh'; theme?: 'light' | 'dark' } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const kept = { 'reach.language': settings.language ?? 'en', 'reach.theme': settings.theme ?? 'light' };
  await page.addInitScript(`Object.assign(localStorage, ${JSON.stringify(kept)})`);
  return { page, complaints, close: () => context.close() };
}
