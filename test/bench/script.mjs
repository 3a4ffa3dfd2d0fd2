/**
 * The yardstick: a script for the same work on the fastest client, undici. Reads a CSV, looks up
 * each distinct domain, 64 at once, sorts by score, writes a CSV. Nothing survives a kill.
 * Arguments: input, output, base URL, token. Prints the seconds it took as JSON.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import pLimit from 'p-limit';
import { Pool } from 'undici';

const [input, output, baseUrl, token] = process.argv.slice(2);
const AT_ONCE = 64;
const headers = { authorization: `Bearer ${token}` };

const started = performance.now();
const rows = parse(readFileSync(input), { columns: true });
const domains = [...new Set(rows.map((row) => row.website))];
const pool = new Pool(baseUrl, { connections: AT_ONCE });
const limit = pLimit(AT_ONCE);
const lookUp = async (domain) => {
  const path = `/v2/brands/domain/${domain}`;
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
  const brand = statusCode === 200 ? await body.json() : (await body.dump(), {});
  return [domain, { name: brand.name, score: brand.qualityScore ?? 0, description: brand.description }];
};
const brands = new Map(await Promise.all(domains.map((domain) => limit(lookUp, domain))));
await pool.close();
const enriched = rows.map((row) => ({ ...row, ...brands.get(row.website) }));
enriched.sort((a, b) => b.score - a.score);
writeFileSync(output, stringify(enriched, { header: true }));
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000 }));
