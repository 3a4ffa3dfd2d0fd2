/**
 * Loads CommonJS by `require`: `import` parses each file once more, a quarter of a short command.
 */
import { createRequire } from 'node:module';

export const load = createRequire(import.meta.url);
