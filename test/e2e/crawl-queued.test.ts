/** A brand that the service still fetches: not found for now, as row, summary and report say. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { readReport, readRows } from '../support/output-files.js';
import { startWebServer } from '../support/raw-web-server.js';
import { createScene, domainAt, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('is reported when it is asked for, and when the stored answer is used', async () => {
    const fetching = [domainAt(1), domainAt(4)];
    const web = await startWebServer((request, response) => {
      if (fetching.some((domain) => request.url?.endsWith(domain))) {
        response.writeHead(404, { 'x-bf-error': 'crawl_queued' }).end('{"message":"Brand is being fetched"}');
      } else response.end('{"name":"Acme","logos":[]}');
    });
    const scene = await createScene(engine, {}, domainList(6));
    for (const _start of ['fetched', 'stored']) {
      const result = await ends(
        0,
        scene.run(['run', 'list.csv', '--sort', 'none'], { BRAND_API_URL: web.url }),
      );
      expect(result.stderr).toMatch(
        /still fetching 2 identifiers \(crawl_queued\): run the same command again in 2 minutes/,
      );
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
