/** What a faulty service costs; `test/worker` tests what is believed of which answer. */
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { isKnown } from '../support/brand-profile.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { startWebServer } from '../support/raw-web-server.js';
import { createScene, domainAt, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';
import { list } from './unknown-domains.js';

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('errors, resets and damaged answers: the file is right, nothing is paid three times, no 404 asked twice', async () => {
    const scene = await createScene(engine, {
      faults: {
        unavailable: 0.1,
        broken: 0.1,
        resetBefore: 0.02,
        resetWithin: 0.02,
        truncated: 0.02,
        truncatedSilently: 0.02,
        damaged: 0.02,
      },
    });
    await scene.write('list.csv', domainList(400));
    const result = await scene.run(['run', 'list.csv']);
    expect([0, 1], result.stderr).toContain(result.code);
    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(rows).toHaveLength(400);
    const { meter } = scene.service;
    for (const row of rows) {
      const domain = row.brand_identifier ?? '';
      const isThere = isKnown('domain', domain);
      // Failed is right only after two paid answers that could not be used.
      if (row.brand_status === 'failed') expect(meter.billedOf.get(`domain:${domain}`)).toBe(2);
      else expect(row.brand_status).toBe(isThere ? 'matched' : 'not_found');
      if (row.brand_status === 'matched') expect(row.brand_domain).toBe(domain);
    }
    expect(countStatuses(rows).failed ?? 0).toBeLessThan(60);
    expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);
    const plainMisses = meter.requests.filter(({ status, why }) => status === 404 && why === '');
    expect(new Set(plainMisses.map(({ identifier }) => identifier)).size).toBe(plainMisses.length);
    const report = await readReport(scene.path('list.report.json'));
    expect(report.requests.billed).toBeGreaterThanOrEqual(meter.billed);
  });

  test.each([
    ['refuses requests as too many', { perSecond: 5 }],
    ['answers 503', { faults: { unavailable: 1 } }],
  ])('a service that %s with a far Retry-After: it is said until when', async (_what, changes) => {
    const scene = await createScene(engine, { ...changes, retryAfter: 600 }, domainList(20));
    const run = scene.startHere(['run', 'list.csv']);
    await run.untilSaid(/the service asks to wait until \d\d:\d\d:\d\d UTC/);
    const status = await scene.run(['status']);
    if ('perSecond' in changes) expect(status.stdout).toContain('wait        the service asks to wait until');
    run.kill('SIGTERM');
    expect((await run.done).code).toBe(130);
  });

  test('a brand that is still fetched is reported when it is asked for, and when the stored answer is used', async () => {
    const fetching = [domainAt(1), domainAt(4)];
    const web = await startWebServer((request, response) => {
      if (fetching.some((domain) => request.url?.endsWith(domain))) {
        response.writeHead(404, { 'x-bf-error': 'crawl_queued' }).end('{"message":"Brand is being fetched"}');
      } else response.end('{"name":"Acme","logos":[]}');
    });
    const scene = await createScene(engine, {}, domainList(6));
    for (const _start of ['fetched', 'stored']) {
      const said = /still fetching 2 identifiers \(crawl_queued\): run the same command again in 2 minutes/;
      await ends(0, scene.run(['run', 'list.csv', '--sort', 'none'], { BRAND_API_URL: web.url }), said);
      const rows = await readRows(scene.path('list.enriched.csv'));
      expect(rows.map((row) => [row.brand_status, row.brand_error])).toEqual(
        [0, 1, 2, 3, 4, 5].map((at) =>
          fetching.includes(domainAt(at))
            ? ['not_found', expect.stringMatching(/crawl_queued.*2 minutes/)]
            : ['matched', ''],
        ),
      );
      const { identifiers } = await readReport(scene.path('list.report.json'));
      expect(identifiers).toMatchObject({ notFound: 2, beingFetched: 2 });
    }
    expect(web.asked).toHaveLength(6);
  });
});

const PAGE: RequestListener = (_request, response) => {
  response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>404</h1>');
};
const JSON_404: RequestListener = (_request, response) => {
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}');
};

const BRAND = JSON.stringify({
  id: 'id_1',
  name: 'Known',
  domain: 'known.com',
  claimed: false,
  qualityScore: 0.5,
});

const postgres = postgresEngine();
onEngines([redisEngine(), inLongTests(postgres), inLongTests(embeddedEngine())], (engine) => {
  let scenes = 0;
  const scene = async (web: { readonly url: string }) => {
    const base = await createScene(engine);
    scenes += 1;
    const account = `team-${scenes}`;
    return {
      ...base,
      // With an account name the ledger does not depend on the address.
      enrich: (...flags: string[]) =>
        base.run(['run', 'list.csv', '--account', account, '--base-url', web.url, ...flags]),
    };
  };

  test('an HTML page stops the run at the first, lone request, every time', async () => {
    const web = await startWebServer(PAGE);
    const { enrich, write, files, path } = await scene(web);
    await write('list.csv', domainList(60));
    for (const requests of [1, 2]) {
      await ends(5, enrich(), 'is the address right?');
      expect(web.asked).toHaveLength(requests);
    }
    expect(await files()).not.toContain('list.enriched.csv');
    const counts = countStatuses(await readRows(path('list.enriched.partial.csv')));
    expect(counts).toEqual({ failed: 1, deferred: 59 });
    expect((await readReport(path('list.report.json'))).requests).toMatchObject({ sent: 1, billed: 1 });
  });

  test('a short list of 404s does not look like success, unless the user expects unknown identifiers', async () => {
    const web = await startWebServer(JSON_404);
    const { enrich, write, path } = await scene(web);
    await write('list.csv', domainList(3));
    expect((await enrich()).code).toBe(5);
    await ends(0, enrich('--min-match', '0'));
    expect(countStatuses(await readRows(path('list.enriched.csv')))).toEqual({ not_found: 3 });
    expect(web.asked).toHaveLength(6);
  });

  test('a service without usage headers: what it does not know is bought once, and again when it is old', async () => {
    const web = await startWebServer((request, response) => {
      if (!request.url?.includes('known.com')) return JSON_404(request, response);
      response.writeHead(200, { 'content-type': 'application/json' }).end(BRAND);
    });
    const { enrich, write, path } = await scene(web);
    await write('list.csv', list([...'abc', 'known', ...'defghi'].map((name) => `${name}.com`)));
    await ends(0, enrich());
    expect(countStatuses(await readRows(path('list.enriched.csv')))).toEqual({ matched: 1, not_found: 9 });
    expect(web.asked).toHaveLength(10);
    const later = ['--max-age-missing', '0s'];
    await ends(0, enrich(...later));
    expect(web.asked).toHaveLength(19);
    web.answer = PAGE;
    await ends(5, enrich(...later), 'is the address right?');
    expect(web.asked).toHaveLength(20);
  });
});
