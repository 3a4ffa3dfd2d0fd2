/** Loads CommonJS with `require`: `import` parses twice, a quarter of a short command's time. */
import { createRequire } from 'node:module';

export const load = createRequire(import.meta.url);
