/**
 * What others would write for the same work, one way per name: read a CSV, look up each distinct
 * domain, 64 at once, sort by score in memory, write a CSV. Nothing survives a kill. Each way but
 * `fetch` has the fastest client, undici.
 *
 * Arguments: way, input, output, base URL, token. Environment: `RIVAL_REDIS` for `bullmq`,
 * `RIVAL_MODULES` (a folder with `node_modules`) for `crawlee`. Prints the seconds it took as JSON.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import pLimit from 'p-limit';

const [way, input, output, baseUrl, token] = process.argv.slice(2);
const AT_ONCE = 64;
const headers = { authorization: `Bearer ${token}` };
const pathOf = (domain) => `/v2/brands/domain/${domain}`;
const columnsOf = (brand) => ({
  name: brand.name,
  score: brand.qualityScore ?? 0,
  description: brand.description,
});

async function limited(domains, lookUp) {
  const limit = pLimit(AT_ONCE);
  const entry = async (domain) => [domain, columnsOf(await lookUp(domain))];
  return new Map(await Promise.all(domains.map((domain) => limit(entry, domain))));
}

/** A pool of undici, and one lookup on it. */
async function openPool() {
  const { Pool } = await import('undici');
  const pool = new Pool(baseUrl, { connections: AT_ONCE });
  const lookUp = async (domain) => {
    const { statusCode, body } = await pool.request({ method: 'GET', path: pathOf(domain), headers });
    return statusCode === 200 ? body.json() : (await body.dump(), {});
  };
  return { lookUp, close: () => pool.close() };
}

const WAYS = {
  /** p-limit around the global `fetch`. */
  fetch: (domains) =>
    limited(domains, async (domain) => {
      const answer = await fetch(baseUrl + pathOf(domain), { headers });
      return answer.ok ? answer.json() : (await answer.arrayBuffer(), {});
    }),

  /** p-limit around a pool of undici: the yardstick. */
  async undici(domains) {
    const { lookUp, close } = await openPool();
    const brands = await limited(domains, lookUp);
    await close();
    return brands;
  },

  /** As in tutorials: a job for each domain, whose return value is the brand. */
  async bullmq(domains) {
    const { Queue, Worker } = await import('bullmq');
    const { lookUp, close } = await openPool();
    const connection = { url: process.env.RIVAL_REDIS, maxRetriesPerRequest: null };
    const queue = new Queue('brands', { connection });
    const worker = new Worker('brands', (job) => lookUp(job.data.domain), {
      connection,
      concurrency: AT_ONCE,
    });
    const brands = new Map();
    const all = new Promise((resolve) => {
      worker.on('completed', (job, brand) => {
        brands.set(job.data.domain, columnsOf(brand));
        if (brands.size === domains.length) resolve();
      });
    });
    await queue.addBulk(domains.map((domain) => ({ name: 'lookup', data: { domain } })));
    await all;
    await worker.close();
    await queue.close();
    await close();
    return brands;
  },

  /** Its storage in memory or on disk, as `CRAWLEE_PERSIST_STORAGE` says. */
  async crawlee(domains) {
    const folder = join(process.env.RIVAL_MODULES, 'node_modules/@crawlee/basic/index.mjs');
    const { BasicCrawler } = await import(pathToFileURL(folder));
    const { lookUp, close } = await openPool();
    const crawler = new BasicCrawler({
      minConcurrency: AT_ONCE,
      maxConcurrency: AT_ONCE,
      async requestHandler({ request, pushData }) {
        const { domain } = request.userData;
        await pushData({ domain, ...columnsOf(await lookUp(domain)) });
      },
    });
    await crawler.run(domains.map((domain) => ({ url: baseUrl + pathOf(domain), userData: { domain } })));
    const { items } = await crawler.getData();
    await close();
    return new Map(items.map(({ domain, ...columns }) => [domain, columns]));
  },
};

const started = performance.now();
const rows = parse(readFileSync(input), { columns: true });
const brands = await WAYS[way]([...new Set(rows.map((row) => row.website))]);
const enriched = rows.map((row) => ({ ...row, ...brands.get(row.website) }));
enriched.sort((a, b) => b.score - a.score);
writeFileSync(output, stringify(enriched, { header: true }));
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000 }));
