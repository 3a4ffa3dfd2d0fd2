import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const missingServers = fileURLToPath(new URL('support/missing-servers.ts', import.meta.url));

/** Files that wait for processes and servers begin first; the quick ones fill the gaps at the end. */
class ServersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => /[/]test[/](e2e|daemon|engine)[/]/.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/chaos/**', 'test/bench/**'],
    pool: 'forks',
    // A worker keeps its process from file to file: to start one and to load the sources again took a third of the time of a
    // quick file. No file may change what others see: environment, globals, what a module keeps.
    isolate: false,
    // Most of the time is spent waiting for processes and servers: more than vitest would take on two cores.
    maxWorkers: 4,
    sequence: { sequencer: ServersFirst },
    tags: [{ name: 'long', description: 'npm run test:long; every change is tested without them' }],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', ...(process.env.CI ? ['json'] : []), missingServers],
    outputFile: { json: '.test-results.json' },
  },
});
