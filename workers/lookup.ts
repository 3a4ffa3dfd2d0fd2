/**
 * A worker as a process of its own, for machines that run nothing else: `node dist/workers/lookup.js`. Settings come
 * from the environment and `brand-enrich.config.json`, as for `brand-enrich worker`; flags are understood too.
 */
import { main } from '../src/main.js';

await main(['worker', ...process.argv.slice(2)]);
