// Preloaded into a process (`NODE_OPTIONS=--import …`): at its end writes which CommonJS modules it has loaded to LOADED_MODULES.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { cache } = createRequire(import.meta.url);
process.on('exit', () => writeFileSync(process.env.LOADED_MODULES ?? '', Object.keys(cache).join('\n')));
