/** The commands of the local service, end to end. Runs the built program. */
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
