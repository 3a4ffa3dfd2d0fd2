/**
 * A wrong address must not look like success, nor be paid for row by row. `test/worker` tests what
 * is believed of which answer. Requests are counted where they arrive.
 */
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readReport, readRows } from '../support/output-files.js';
import { startWebServer } from '../support/raw-web-server.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';
import { list } from './unknown-domains.js';

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
