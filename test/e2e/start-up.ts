/** An `up` with its settings in the config file of its scene, and a program at its dashboard. */
import type { Page } from 'playwright-core';
import type { CliProcess } from '../support/cli.js';
import type { Scene } from '../support/scene.js';

export const PASSWORD = 'a-password-of-the-dashboard';

/** It watches the folder of the scene and uses free ports, unless `settings` say otherwise. */
export async function startUp(
  scene: Scene,
  settings: object = {},
  env: Record<string, string> = {},
  start = scene.start,
): Promise<CliProcess> {
  const usual = { inbox: ['.'], settle: '200ms', metricsPort: 0, dashboardPort: 0 };
  await scene.write('brand-enrich.config.json', JSON.stringify({ ...usual, ...settings }));
  const up = start(['up'], { BRAND_ENRICH_DASHBOARD_PASSWORD: PASSWORD, ...env });
  await up.untilSaid(/"msg":"up"/);
  return up;
}

/** The same in this process: it cannot be killed. */
export function startUpHere(scene: Scene, settings: object = {}): Promise<CliProcess> {
  return startUp(scene, settings, {}, scene.startHere);
}

/** Ends with a slash. */
export function dashboardUrl({ said }: CliProcess): string {
  const url = /"url":"(http:[^"]+)","msg":"serving the dashboard"/.exec(said)?.[1];
  if (url === undefined) throw new Error(`no dashboard in: ${said}`);
  return url;
}

/** Asks the dashboard as a program that knows the password; a form is posted. */
export function askAs(user: string, up: CliProcess) {
  const authorization = `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString('base64')}`;
  return (path: string, form?: Record<string, string>) =>
    fetch(new URL(path, dashboardUrl(up)), {
      headers: { authorization },
      redirect: form ? 'manual' : 'follow',
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
}

/** Signs in as Ada at the page of this address, by the keys. */
export async function signInOn(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Password of the dashboard').fill(PASSWORD);
  await page.keyboard.press('Enter');
}
