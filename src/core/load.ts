/** Loads CommonJS by `require`: `import` parses it twice, a quarter of a short command. */
import { createRequire } from 'node:module';

export const load = createRequire(import.meta.url);
