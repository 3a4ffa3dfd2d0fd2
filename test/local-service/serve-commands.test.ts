/** The commands of the local service, end to end. Runs the built program. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { killLeftovers, runCli, startCli } from '../support/cli.js';
import { temporaryFolder } from './temporary-folder.js';

afterEach(killLeftovers);

async function ask(url: string, path: string) {
  const headers = { authorization: 'Bearer demo-token' };
  const answer = await fetch(`${url}/v2/brands/${path}`, { headers });
  const brand = (await answer.json()) as { domain?: string };
  return { status: answer.status, usage: answer.headers.get('x-api-key-approximate-usage'), brand };
}

it('serves a generated catalogue, and the own brand that it lacks', async () => {
  const cwd = temporaryFolder();
  const made = await runCli(['generate-catalogue', 'brands.jsonl.gz', '--brands', '400', '--json'], { cwd });
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('serve --catalogue brands.jsonl.gz')]);
  expect(JSON.parse(made.stdout)).toMatchObject({
    brands: 400,
    cryptoSymbols: 2_000,
    etfTickers: 10_000,
    etfProviders: 320,
  });
  const flags = ['--catalogue', 'brands.jsonl.gz', '--own-domain', 'brandfetch.com', '--port', '0'];
  const service = startCli(['serve', ...flags], { cwd });
  await service.untilSaid(/ at http\S+/);
  const [url = ''] = /http:\S+/.exec(service.said) ?? [];
  expect(await ask(url, 'brandfetch.com')).toMatchObject({ status: 200, usage: '0' });
  expect(await ask(url, 'domain/www.brandfetch.com')).toMatchObject({ status: 200, usage: '0' });
  expect(await ask(url, 'ticker/EAAA')).toMatchObject({
    status: 200,
    usage: '1',
    brand: { domain: 'brand-000000.com' },
  });
  service.kill('SIGTERM');
  expect((await service.done).code).toBe(0);
});

it.each([
  [['generate-catalogue', 'x.jsonl', '--brands', '5'], '320 ETF providers in 5 brands'],
  [['generate-catalogue'], 'FILE'],
  [['serve', '--statement'], 'give their file with --accounts FILE'],
  [['serve', '--month', '2026-11'], 'add --statement'],
])('refuses %j with 2 and leaves nothing behind', async (args, words) => {
  const cwd = temporaryFolder();
  const refused = await runCli(args, { cwd });
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(words);
  expect(existsSync(join(cwd, 'x.jsonl'))).toBe(false);
});

it('prints the statement of a month without a service', async () => {
  const cwd = temporaryFolder();
  const accounts = join(cwd, 'accounts.json');
  writeFileSync(
    accounts,
    JSON.stringify({ accounts: [{ name: 'data', token: 't', plan: 'paid', quota: 3 }] }),
  );
  const count = { account: 'data', period: '2020-02', requests: 5, notice: null };
  writeFileSync(`${accounts}.usage.jsonl`, `${JSON.stringify(count)}\n`);
  const stated = await runCli(['serve', '--accounts', accounts, '--statement', '--month', '2020-02'], {
    cwd,
  });
  expect(stated.code).toBe(0);
  expect(JSON.parse(stated.stdout)).toMatchObject({
    month: '2020-02',
    requests: 5,
    overageOwed: '0.2',
    isFinal: true,
  });
});
