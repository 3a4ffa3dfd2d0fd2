/** A headless Chromium: the program that `CHROMIUM` names, otherwise Debian's or Chrome's. */
import { existsSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

const PROGRAM = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** Whether this machine has one. */
export function hasChromium(): boolean {
  return PROGRAM !== undefined;
}

/** The name of a suite that cannot run without it. */
export const NEEDS_CHROMIUM = hasChromium()
  ? 'in Chromium'
  : 'in Chromium (not run: sudo apt-get install -y chromium, or name one with CHROMIUM=PATH)';

/** The driver is loaded here, so that checking for a browser costs nothing. */
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
  /** Errors and warnings of the console, and exceptions of scripts. */
  readonly complaints: string[];
  /** Requested addresses, except those inside the page itself (`data:`, `blob:`). */
  readonly requests: string[];
}

/**
 * A browser for the tests of a file. Opens a page in a new profile, watched from its first byte on,
 * which is closed with its test.
 */
export function chromiumOfFile(): (options?: BrowserContextOptions) => Promise<WatchedPage> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  return async (options) => {
    const context = await browser?.newContext(options);
    if (context === undefined) throw new Error('the browser is not started');
    onTestFinished(() => context.close());
    return watched(await context.newPage());
  };
}

function watched(page: Page): WatchedPage {
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
