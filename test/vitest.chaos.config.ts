/**
 * The long tests: kills, storms and outages of minutes. Not part of `npm test`; `npx vitest run --config
 * test/vitest.chaos.config.ts` runs them, one file after the other, on the built program.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/chaos/**/*.chaos.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
