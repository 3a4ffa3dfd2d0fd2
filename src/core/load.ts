/**
 * Packages made of CommonJS, by `require`: `import` reads and parses each of their files once more,
 * to learn what it exports, which took a quarter of a short command's time.
 */
import { createRequire } from 'node:module';

export const load = createRequire(import.meta.url);
