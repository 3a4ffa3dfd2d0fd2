import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const missingServers = fileURLToPath(new URL('support/missing-servers.ts', import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/chaos/**', 'test/bench/**'],
    pool: 'forks',
    // Most of the time is spent waiting for processes and servers, so more workers than vitest's
    // default help on two cores.
    maxWorkers: 3,
    tags: [{ name: 'long', description: 'npm run test:long; every change is tested without them' }],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', ...(process.env.CI ? ['json'] : []), missingServers],
    outputFile: { json: '.test-results.json' },
  },
});
