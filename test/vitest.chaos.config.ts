/**
 * Kills, storms and outages of minutes, one file after the other, on the built program. Not part of
 * `npm test`: `npm run test:chaos` runs all but the soak, `npm run test:kills` those of about five
 * minutes tagged `kills`, which CI runs too, and `npm run test:soak` the soak.
 */
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    env: { CHAOS_SEED: process.env.CHAOS_SEED || String(randomInt(2 ** 32)) },
    include: ['test/chaos/**/*.chaos.ts'],
    pool: 'forks',
    fileParallelism: false,
    tags: [
      { name: 'kills', description: 'npm run test:kills; processes that are killed at random, bounded' },
      { name: 'soak', description: 'npm run test:soak; one long life, SOAK_MINUTES long' },
    ],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', ...(process.env.CI ? ['json'] : [])],
    outputFile: { json: process.env.TEST_RESULTS ?? '.test-results.json' },
  },
});
