/**
 * A wrong address must not look like success, nor be paid for row by row; a service that identifies
 * itself poorly must still work. Requests are counted where they arrive.
 */

import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { startWebServer } from '../support/raw-web-server.js';
import { createScene, describeOn, domainAt, domainList } from '../support/scene.js';

const PAGE: RequestListener = (_request, response) => {
  response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>404</h1>');
};
const JSON_404: RequestListener = (_request, response) => {
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}');
};
/** A brand where `isKnown` says so, else a 404 without a sign of the API. */
const headless =
  (isKnown: (path: string) => boolean): RequestListener =>
  (request, response) => {
    if (!isKnown(request.url ?? '')) return JSON_404(request, response);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"name":"Acme","qualityScore":0.9}');
  };

const postgres = postgresEngine();
describeOn([redisEngine(), inLongTests(postgres), inLongTests(embeddedEngine())], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

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
      const result = await enrich();
      expect(result.code, result.stderr).toBe(5);
      expect(result.stderr).toContain('is the address right?');
      expect(web.asked).toHaveLength(requests);
    }
    expect(await files()).not.toContain('list.enriched.csv');
    const counts = countStatuses(await readRows(path('list.enriched.partial.csv')));
    expect(counts).toEqual({ failed: 1, deferred: 59 });
    expect((await readReport(path('list.report.json'))).requests).toMatchObject({ sent: 1, billed: 1 });
  });

  test('an HTML page in response to the free request for the own brand stops the run before it spends', async () => {
    const web = await startWebServer(PAGE);
    const { enrich, write, path } = await scene(web);
    await write('list.csv', domainList(10));
    const result = await enrich('--own-domain', 'brandfetch.com');
    expect(result.code, result.stderr).toBe(5);
    expect(result.stderr).toContain('is the address right?');
    expect(web.asked).toEqual(['/v2/brands/domain/brandfetch.com']);
    expect(countStatuses(await readRows(path('list.enriched.partial.csv')))).toEqual({ deferred: 10 });
  });

  test('unrecognisable JSON stops the run after five requests, one at a time, and nothing is stored', async () => {
    const web = await startWebServer(JSON_404);
    const { enrich, write, run } = await scene(web);
    await write('list.csv', domainList(60));
    const result = await enrich();
    expect(result.code, result.stderr).toBe(5);
    expect(result.stderr).toContain('--allow-unknown');
    expect([web.asked.length, web.mostAtOnce]).toEqual([5, 1]);
    expect((await run(['outcomes', 'stats'])).stdout).toContain('0 matched, 0 not found');
  });

  test('a service without recognisable headers may refuse anything, before and after its first brand', async () => {
    const known = domainAt(3);
    const refuse: RequestListener = (_request, response) => response.writeHead(410).end('{}');
    const web = await startWebServer((request, response) =>
      request.url?.includes(known) ? headless(() => true)(request, response) : refuse(request, response),
    );
    const { enrich, write, path } = await scene(web);
    await write('list.csv', domainList(30));
    const result = await enrich('--sort', 'none');
    expect(result.code, result.stderr).toBe(1);
    expect(countStatuses(await readRows(path('list.enriched.csv')))).toEqual({ matched: 1, failed: 29 });
    expect(web.asked).toHaveLength(30);
  });

  test('a short list of 404s does not look like success, unless the user expects unknown identifiers', async () => {
    const web = await startWebServer(JSON_404);
    const { enrich, write, path } = await scene(web);
    await write('list.csv', domainList(3));
    expect((await enrich()).code).toBe(5);
    const result = await enrich('--allow-unknown');
    expect(result.code, result.stderr).toBe(0);
    expect(countStatuses(await readRows(path('list.enriched.csv')))).toEqual({ not_found: 3 });
    expect(web.asked).toHaveLength(6);
  });

  test('a service without recognisable headers is trusted from its first brand on, and its earlier 404s are kept', async () => {
    const known = domainAt(3);
    const web = await startWebServer(headless((path) => path.includes(known)));
    const { enrich, write, path } = await scene(web);
    // One chunk, so that the order of requests is fixed.
    await write('list.csv', domainList(40));
    const result = await enrich('--sort', 'none');
    expect(result.code, result.stderr).toBe(0);
    expect(countStatuses(await readRows(path('list.enriched.csv')))).toEqual({ matched: 1, not_found: 39 });
    expect([web.asked.length, new Set(web.asked).size]).toEqual([40, 40]);

    // Later runs trust it too, even when it finds nothing.
    web.answer = PAGE;
    await write('list.csv', domainList(30, 'later'));
    expect((await enrich()).code).toBe(0);
  });

  test('a version at the end of the address is accepted, with the same account and answers', async () => {
    const { service, run, write, path } = await createScene(engine);
    await write('list.csv', domainList(20));
    const flags = ['run', 'list.csv', '--base-url'];
    expect((await run([...flags, `${service.url}/v2/`])).code).toBe(0);
    expect((await run([...flags, service.url])).code).toBe(0);
    expect(service.meter.billed).toBe(20);
    expect(countStatuses(await readRows(path('list.enriched.csv'))).matched).toBeGreaterThan(0);
  });

  test('a recognised service that knows nothing of the list answers all of it, and the summary mentions column and kind', async () => {
    const base = await createScene(engine, { alwaysStatus: 404 });
    await base.write('list.csv', domainList(60));
    const result = await base.run(['run', 'list.csv']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(/warning: .* is column "website" \(domain\) right\?/);
    expect(base.service.meter.billed).toBe(60);
  });
});
