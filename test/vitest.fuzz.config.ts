/** Not part of `npm test`: `npm run test:fuzz` runs each target for `FUZZ_SECONDS`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: { include: ['test/fuzz/**/*.fuzz.ts'], pool: 'forks', fileParallelism: false, hookTimeout: 60_000 },
});
