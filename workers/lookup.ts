/**
 * A worker as a process of its own: `node dist/workers/lookup.js`. Settings come from the
 * environment and `brand-enrich.config.json`, as for `brand-enrich worker`, or from flags: the
 * engine, and the one service that it asks with its token.
 */
import { runProcess } from '../src/main.js';

await runProcess(['worker', ...process.argv.slice(2)]);
