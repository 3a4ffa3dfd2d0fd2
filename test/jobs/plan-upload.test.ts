/** Plans of sent files, and choices of a person on their page: from a form to settings and back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DaemonContext } from '../../src/app/daemon-context.js';
import { silentLog } from '../../src/core/log.js';
import { openEngine } from '../../src/engine/open-engine.js';
import { type Choice, choiceOf, createUploadPlans, fieldsOf } from '../../src/jobs/plan-upload.js';
import type { ExchangeRequest } from '../../src/ledger/ledger.js';
import { runKey, runSettingsOf } from '../../src/run/enrich-request.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { foundFile, NO_FILE, renderFileParts } from '../dashboard/views.js';
import { exchangeRequest } from '../engine/contract/run-settings.js';
import { createHandClock } from '../model/hand-clock.js';
import { quickEngine } from '../support/engines.js';
import { cell, row } from '../support/hostile-files.js';
import { readersOf } from '../support/reading-processes.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { workbookOf } from '../support/workbooks.js';

const LEFT_MS = 15_000;

/** A file in this folder, sent and not started. */
const draftAt = (folder: string, file = 'list.csv') => ({
  ...foundFile({ id: file, root: folder, folder, path: join(folder, file), place: 'drafts' }),
  file,
});

describe.runIf(process.platform === 'linux')('plans', () => {
  /** Of an `up` whose files are in the folder. */
  async function openPlans(flags: Readonly<Record<string, string>> = {}) {
    const folder = await temporaryFolder();
    const env = { ...(await quickEngine()).env(folder), BRAND_ENRICH_STATE: join(folder, 'state') };
    const loaded = loadSettings({
      command: 'up',
      flags: { baseUrl: 'http://127.0.0.1:9', ...flags },
      env: { ...env, BRAND_API_TOKEN: 'sesame-open' },
      file: null,
      home: folder,
    });
    const stateFolder = loaded.settings.state;
    const engine = await openEngine({ engine: loaded.settings.engine, stateFolder, log: silentLog() });
    onTestFinished(() => engine.close());
    const clock = createHandClock();
    const service = {
      service: 'http://127.0.0.1:9',
      account: 'a',
      queueName: 'q',
      isLoopback: true,
      ownDomain: null,
    };
    const stop = new AbortController().signal;
    const plans = createUploadPlans({
      loaded,
      service,
      engine,
      stateFolder,
      stop,
      clock,
    } as unknown as DaemonContext);
    return { folder, clock, plans, engine, service };
  }

  it('take a cap of the page in place of an earlier one of the file, up to that of the inbox', async () => {
    const { folder, plans } = await openPlans();
    const path = join(folder, 'list.csv');
    const content = 'website\na.com\nb.com\nc.com\nd.com\n';
    await writeFile(path, content);
    await writeFile(join(folder, 'list.csv.json'), '{"maxRequests": 1}');
    await writeFile(join(folder, 'brand-enrich.json'), '{"maxRequests": 3}');
    const upload = draftAt(folder);
    const capWith = async (choice: Choice) => (await plans.plan(upload, choice)).found?.settings.maxRequests;
    expect(await capWith({})).toBe(1);
    expect(await capWith({ maxRequests: '2' })).toBe(2);
    expect(await capWith({ maxRequests: '9' })).toBe(3);
  });

  it('count what earlier starts cost towards a cap, and say the rest', async () => {
    const paid = { plan: 'paid', overageBudget: '20', overagePrice: '0.1' };
    const { folder, plans, engine, service } = await openPlans(paid);
    const path = join(folder, 'list.csv');
    const content = `website\n${Array.from({ length: 30 }, (_, at) => `b${at}.com\n`).join('')}`;
    await writeFile(path, content);
    const upload = draftAt(folder);
    const foundWith = async (choice: Choice) => {
      const { found } = await plans.plan(upload, choice);
      if (found === null) throw new Error('it has no plan');
      return found;
    };

    const { plan, settings } = await foundWith({});
    const runSettings = runSettingsOf(settings, service);
    const key = runKey(plan.input.sha256, { settings, runSettings });
    await engine.runs.start({
      id: 'run',
      key,
      label: { host: 'etl-1', name: 'list' },
      settings: runSettings,
    });
    // The quota is used up, so that every answer costs.
    let settle: ExchangeRequest['settle'] = [];
    for (const permit of ['p1', 'p2', 'p3', null]) {
      const take = permit === null ? [] : [{ permit, key: `key of ${permit}` }];
      const keys = take.map(({ key }) => key);
      const freshness = { asOf: 0, maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: 0 };
      if (permit !== null) await engine.outcomes.claim('w', keys, freshness);
      const reading = { quota: 10, usage: 10 + settle.length, period: null };
      const asked = { account: 'a', worker: 'w', run: 'run', settle, take, reading };
      const { permits } = await engine.ledger.exchange(exchangeRequest(asked));
      expect(permits.map(({ answer }) => answer)).toEqual(take.map(() => 'granted'));
      settle = permit === null ? [] : [{ permit, as: 'billed', period: null }];
    }

    const { plan: rest } = await foundWith({ maxCost: '1' });
    expect([rest.spending?.maxCost, rest.cap]).toEqual(['0.7', '1']);
  });

  it.each([
    ['=DE', 'it has no column'],
    ['website=', 'it has no value'],
  ])('show the columns, and refuse a condition on rows that is half filled in: %s', async (where, lack) => {
    const { folder, plans } = await openPlans();
    const path = join(folder, 'list.csv');
    await writeFile(path, 'website\na.com\n');
    const upload = draftAt(folder);
    const choice = { where: [where] };
    const plan = await plans.plan(upload, choice);
    expect(plan).toMatchObject({ found: null, refusal: { subject: lack } });
    const shown = { ...NO_FILE, file: upload, draft: { draft: upload, choice, plan } };
    const form = /<form id="plan-form".*?<\/form>/s.exec(renderFileParts(shown))?.[0];
    expect(form).toContain(`I${lack.slice(1)}: `);
    expect(form).toContain(
      `name="only-value" aria-label="the value" maxlength="200" value="${where === '=DE' ? 'DE' : ''}"`,
    );
  });

  it('are made two at once, and end when no page waits for them', async () => {
    const { folder, clock, plans } = await openPlans();
    const sites = Array.from({ length: 10 }, (_, at) => `acme-${at}.com`);
    // Read for some seconds each.
    const book = await workbookOf(
      row(cell('website')) +
        sites
          .map((site) => row(cell(site), cell('x'.repeat(100))))
          .join('')
          .repeat(20_000),
    );
    const made = await Promise.all(
      [1, 2, 3].map(async (each) => {
        const path = join(folder, `book-${each}.xlsx`);
        await writeFile(path, book);
        return draftAt(folder, `book-${each}.xlsx`);
      }),
    );
    const ends = made.map((upload) => plans.plan(upload, {}).then(() => 'made', String));
    // Each plan has a process for the names of sheets, and then one for the rows.
    const seen = new Set<number>();
    let most = 0;
    const look = () => {
      const reading = readersOf(process.pid);
      most = Math.max(most, reading.length);
      for (const pid of reading) seen.add(pid);
      return seen.size;
    };
    await expect.poll(look, { interval: 5 }).toBeGreaterThanOrEqual(4);
    expect(most).toBe(2);
    await clock.advance(LEFT_MS + 2_000);
    for (const end of await Promise.all(ends)) expect(end).toMatch(/^InterruptedError/);
    await expect.poll(() => readersOf(process.pid)).toEqual([]);
  });
});

const fields = (text: string) => choiceOf(new URLSearchParams(text));

describe('a choice', () => {
  it.each([
    ['', {}],
    ['pick=&kind=&sheet=&skipLines=', {}],
    ['pick=position%3A3&kind=crypto', { column: ['position:3'], kind: 'crypto' }],
    ['column=website&pick=position%3A3', { column: ['position:3'] }],
    ['column=website&pick=', { column: ['website'] }],
    ['column=website&pick=any&kind=domain', { kind: 'domain' }],
    ['column=a%3Adomain&column=b%3Adomain', { column: ['a:domain', 'b:domain'] }],
    ['column=symbol%3Aticker', { column: ['symbol'], kind: 'ticker' }],
    ['kind=crypto&column=symbol%3Aticker', { column: ['symbol'], kind: 'crypto' }],
    ['column=A%2C+B', { column: ['A, B'] }],
    ['header=false&sheet=Kunden+1%2C2', { header: 'false', sheet: 'Kunden 1,2' }],
    ['only=tier&only-is=value&only-value=2', { where: ['tier=2'] }],
    ['only=tier&only-is=blank&only-value=2', { where: ['tier:blank'] }],
    ['only=&only-is=filled&only-value=', {}],
    // Halves are kept, to be refused where they were filled in.
    ['only=&only-is=value&only-value=2', { where: ['=2'] }],
    ['only=tier&only-is=value&only-value=', { where: ['tier='] }],
    ['encoding=windows-1252', { encoding: 'windows-1252' }],
  ])('%s: %j', (text, choice) => {
    expect(fields(text)).toEqual(choice);
  });

  it.each([
    'token=x',
    'back=%2F',
    'baseUrl=https%3A%2F%2Fevil.example',
    'tokenFile=%2Fetc%2Fpasswd',
    'output=%2Ftmp%2Fx',
    'quota=9',
    'engine=x',
    'state=x',
    '__proto__=x',
    'sample=true',
    'errors=x',
    'report=x',
  ])('takes no %s', (text) => {
    expect(fields(text)).toEqual({});
  });

  it('is written alike wherever it comes from', () => {
    const choice = fields('sheet=B&pick=position%3A2&header=false&kind=isin');
    expect(JSON.stringify(choiceOf(new URLSearchParams(fieldsOf(choice))))).toBe(JSON.stringify(choice));
    expect(JSON.stringify(fields('kind=isin&header=false&column=position%3A2&sheet=B'))).toBe(
      JSON.stringify(choice),
    );
  });
});
