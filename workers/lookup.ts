/**
 * A worker process: `node dist/workers/lookup.js`. Like `brand-enrich worker`, it takes engine,
 * service and token from flags, the environment and `brand-enrich.config.json`.
 */
import { runProcess } from '../src/main.js';

await runProcess(['worker', ...process.argv.slice(2)]);
