/**
 * A headless Chromium of the running test's own. `CHROMIUM` names its program; otherwise Debian's or Chrome's is taken.
 */
import { existsSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const PROGRAM = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Whether there is one on this machine. */
export function hasChromium(): boolean {
  return PROGRAM !== undefined;
}

/** The words of a suite that cannot run, for its name. */
export const NEEDS_CHROMIUM = hasChromium()
  ? 'in Chromium'
  : 'in Chromium (not run: sudo apt-get install -y chromium, or name one with CHROMIUM=PATH)';

/** The driver is loaded here, so that asking whether there is a browser costs nothing. */
export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    ...(PROGRAM === undefined ? {} : { executablePath: PROGRAM }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console, and what scripts threw. */
  readonly complaints: string[];
  /** Addresses asked for, except those inside the page itself (`data:`, `blob:`). */
  readonly requests: string[];
}

/** A page in a profile of its own that is watched from its first byte on. */
export async function openWatchedPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url())) requests.push(request.url());
  });
  return { page, complaints, requests };
}
