/**
 * `npm run bench`: measurements on the built program. `BENCH_OUT` is the folder of tables and
 * plots, by default a new temporary one; `BENCH_WORK` is a factor: 0.1 for a first look, 10 for the
 * largest sizes.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/bench/**/*.bench.ts'],
    env: { BENCH_OUT: process.env.BENCH_OUT ?? mkdtempSync(join(tmpdir(), 'brand-enrich-figures-')) },
    pool: 'forks',
    fileParallelism: false,
    disableConsoleIntercept: true,
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
  },
});
