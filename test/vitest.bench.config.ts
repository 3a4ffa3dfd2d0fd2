/** `npm run bench`: the built program, measured; `npm run test:speed`: what has bounds, as CI. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/bench/**/*.bench.ts'],
    pool: 'forks',
    fileParallelism: false,
    tags: [{ name: 'guard', description: 'npm run test:speed; ratios with generous bounds' }],
    disableConsoleIntercept: true,
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
  },
});
