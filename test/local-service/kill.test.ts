/**
 * A service process killed during work: every answered request is counted. Runs the built program
 * (`npm run build`), like the test command.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { writeCatalogue } from '../../src/local-service/generate-catalogue.js';
import { temporaryFolder } from './temporary-folder.js';

const built = new URL('../../dist/src/', import.meta.url);
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const PROGRAM = `
  import { serve } from '${new URL('local-service/serve.js', built).href}';
  import { silentLog } from '${new URL('core/log.js', built).href}';
  const [catalogue, accounts, journal] = process.argv.slice(1);
  const { url } = await serve({ port: 0, catalogue, accounts, journal, log: silentLog() });
  console.log(url);
`;

async function startProcess(files: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  if (child.stdout === null) throw new Error('no standard output');
  const [url] = await once(createInterface(child.stdout), 'line');
  return { url: String(url), child };
}

const headers = { authorization: 'Bearer t' };

/**
 * Sends with `lanes` requests at once until the service is gone; returns how many were sent and
 * answered.
 */
async function askUntilKilled(url: string, child: ChildProcess, killAfter: number, lanes = 16) {
  let sent = 0;
  let answered = 0;
  const lane = async () => {
    for (;;) {
      sent += 1;
      const status = await fetch(`${url}/v2/brands/domain/site-${sent}.com`, { headers }).then(
        (answer) => answer.status,
        () => null,
      );
      if (status === null) return;
      answered += 1;
      if (answered === killAfter) child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { sent, answered };
}

it('kill -9, three times during work, loses no answered request', async () => {
  if (!existsSync(fileURLToPath(new URL('local-service/serve.js', built))))
    throw new Error('run `npm run build` first');
  const folder = temporaryFolder();
  const files = ['catalogue.jsonl', 'accounts.json', 'journal.jsonl'].map((name) => join(folder, name));
  const [catalogue = '', accounts = '', journal = ''] = files;
  await writeCatalogue(catalogue, { seed: 1, brands: 5, cryptoSymbols: 0, etfTickers: 0, etfProviders: 0 });
  writeFileSync(accounts, JSON.stringify({ accounts: [{ name: 'data', token: 't', quota: 1_000_000 }] }));

  let sent = 0;
  let answered = 0;
  for (const killAfter of [50, 211, 137]) {
    const { url, child } = await startProcess(files);
    const gone = once(child, 'exit');
    const round = await askUntilKilled(url, child, killAfter);
    await gone;
    sent += round.sent;
    answered += round.answered;
    expect(round.answered).toBeGreaterThanOrEqual(killAfter);
  }

  const { url } = await startProcess(files);
  const own = await fetch(`${url}/v2/brands/brand-service.example`, { headers });
  const counted = Number(own.headers.get('x-api-key-approximate-usage'));
  expect(counted).toBeGreaterThanOrEqual(answered);
  expect(counted).toBeLessThanOrEqual(sent);
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(answered);
  expect(lines.length).toBeLessThanOrEqual(counted);
});
