import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { killLeftovers, startCli } from '../support/cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { generateCatalogue } from './generate-catalogue.js';

afterEach(killLeftovers);

async function ask(url: string, path: string) {
  const headers = { authorization: 'Bearer demo-token' };
  const answer = await fetch(`${url}/v2/brands/${path}`, { headers });
  const brand = (await answer.json()) as { domain?: string };
  return { status: answer.status, usage: answer.headers.get('x-api-key-approximate-usage'), brand };
}

it('serves a generated catalogue, and the own brand that it lacks', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'brands.jsonl.gz'), gzipSync([...generateCatalogue(400)].join('\n')));
  const flags = ['--catalogue', 'brands.jsonl.gz', '--own-domain', 'brandfetch.com', '--port', '0'];
  const service = startCli(['serve', ...flags], { cwd });
  await service.untilSaid(/ at http\S+/);
  const [url = ''] = /http:\S+/.exec(service.said) ?? [];
  expect(await ask(url, 'brandfetch.com')).toMatchObject({ status: 200, usage: '0' });
  expect(await ask(url, 'domain/www.brandfetch.com')).toMatchObject({ status: 200, usage: '0' });
  expect(await ask(url, 'ticker/SAAA')).toMatchObject({
    status: 200,
    usage: '1',
    brand: { domain: 'brand-000000.com' },
  });
  service.kill('SIGTERM');
  expect((await service.done).code).toBe(0);
});
