import { appendFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError, RunError } from '../../src/core/errors.js';
import { silentLog } from '../../src/core/log.js';
import { DEMO_TOKEN, readStatements, type ServeOptions, serve } from '../../src/local-service/serve.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeCatalogue } from './generate-catalogue.js';

type Serving = Awaited<ReturnType<typeof serve>>;

const open: Serving[] = [];
afterEach(async () => {
  for (const serving of open.splice(0)) await serving.close();
});

async function makeFiles() {
  const folder = await temporaryFolder();
  const catalogue = join(folder, 'catalogue.jsonl');
  const accounts = join(folder, 'accounts.json');
  await writeCatalogue(catalogue, 20);
  writeFileSync(
    accounts,
    JSON.stringify({ accounts: [{ name: 'data', token: 't', plan: 'paid', quota: 3 }] }),
  );
  return { catalogue, accounts };
}

async function start(options: Omit<ServeOptions, 'port' | 'log'>): Promise<Serving> {
  const serving = await serve({ port: 0, log: silentLog(), ...options });
  open.push(serving);
  return serving;
}

const get = (serving: Serving, path: string, token = 't') =>
  fetch(`${serving.url}/v2/brands/${path}`, { headers: { authorization: `Bearer ${token}` } });

describe('serve', () => {
  it('without an accounts file serves the demo account, and the first line says how to use it', async () => {
    const { catalogue } = await makeFiles();
    const serving = await start({ catalogue });
    expect(serving.message).toContain(`serving 20 brands at ${serving.url}`);
    expect(serving.message).toContain(DEMO_TOKEN);
    const answer = await get(serving, 'nobody.example', DEMO_TOKEN);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('x-api-key-quota')).toBe('100000');
    expect(answer.headers.get('x-api-key-approximate-usage')).toBe('1');
  });

  it('states a past month before a service ran in the new one, independent of the current terms', async () => {
    const { catalogue, accounts } = await makeFiles();
    const clockAt = (time: string) => {
      return { now: () => Date.parse(time), monotonic: () => 0, sleep: async () => undefined };
    };
    const [november, december] = [clockAt('2026-11-30T23:59:00Z'), clockAt('2026-12-01T00:01:00Z')];
    const serving = await start({ catalogue, accounts, clock: november });
    for (let i = 0; i < 5; i += 1) await get(serving, `site-${i}.com`);
    const stated = { month: '2026-11', requests: 5, overageRequests: 2, overageOwed: '0.2' };
    expect(await readStatements({ accounts, month: '2026-11', clock: november })).toMatchObject([
      { ...stated, isFinal: false },
    ]);
    await serving.close();
    const ended = await readStatements({ accounts, month: '2026-11', clock: december });
    expect(ended).toMatchObject([{ ...stated, isFinal: true }]);
    expect(await readStatements({ accounts, clock: december })).toMatchObject([
      { month: '2026-12', requests: 0, isFinal: false },
    ]);
    const dearer = { name: 'data', token: 't', plan: 'paid', quota: 1, overagePrice: 7 };
    writeFileSync(accounts, JSON.stringify({ accounts: [dearer] }));
    expect(await readStatements({ accounts, month: '2026-11', clock: december })).toEqual(ended);
    await start({ catalogue, accounts, clock: december });
    expect(await readStatements({ accounts, month: '2026-11', clock: december })).toEqual(ended);
  });

  it('refuses a second service on the same accounts, by whatever path, and takes others beside it', async () => {
    const files = await makeFiles();
    await start(files);
    await expect(start(files)).rejects.toThrow(RunError);
    const alias = `${files.accounts}.alias`;
    symlinkSync(files.accounts, alias);
    await expect(start({ ...files, accounts: alias })).rejects.toThrow(alias);
    await start(await makeFiles());
  });

  it('holds nothing after a failed start', async () => {
    const files = await makeFiles();
    const { port } = new URL((await start({ catalogue: files.catalogue })).url);
    await expect(serve({ port: Number(port), log: silentLog(), ...files })).rejects.toThrow(RunError);
    await start(files);
  });

  it('names a bad catalogue, bad accounts and unknown faults', async () => {
    const { catalogue, accounts } = await makeFiles();
    await expect(start({ catalogue, faults: ['nonsense=1'] })).rejects.toThrow(ConfigError);
    appendFileSync(catalogue, '{"brand":\n');
    await expect(start({ catalogue })).rejects.toThrow('line 21');
    writeFileSync(accounts, '[]');
    await expect(start({ accounts })).rejects.toThrow(accounts);
  });

  it('shows faults in the first line and applies them to answers', async () => {
    const { catalogue } = await makeFiles();
    const serving = await start({ catalogue, faults: ['503=1'] });
    expect(serving.message).toContain('503=1');
    expect((await get(serving, 'a.com', DEMO_TOKEN)).status).toBe(503);
  });
});
