/**
 * What one would write in an afternoon: csv-parse, p-limit, an undici pool, sort in memory, csv-stringify; nothing
 * durable. The yardstick of the figures. Arguments: input, output, base URL, token.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import pLimit from 'p-limit';
import { Pool } from 'undici';

const [input, output, baseUrl, token] = process.argv.slice(2);
const started = performance.now();
const rows = parse(readFileSync(input), { columns: true });
const pool = new Pool(baseUrl, { connections: 64 });
const limit = pLimit(64);
const enriched = await Promise.all(
  rows.map((row) =>
    limit(async () => {
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: `/v2/brands/domain/${row.website}`,
        headers: { authorization: `Bearer ${token}` },
      });
      const brand = statusCode === 200 ? await body.json() : (await body.dump(), {});
      return { ...row, name: brand.name, score: brand.qualityScore ?? 0, description: brand.description };
    }),
  ),
);
enriched.sort((a, b) => b.score - a.score);
writeFileSync(output, stringify(enriched, { header: true }));
await pool.close();
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, rss: process.resourceUsage().maxRSS / 1024 }));
