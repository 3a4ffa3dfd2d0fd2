import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const missingServers = fileURLToPath(new URL('support/missing-servers.ts', import.meta.url));
const oneSeed = fileURLToPath(new URL('support/one-seed.ts', import.meta.url));

const SERVERS = ['test/{e2e,dashboard,engine,jobs}/**/*.test.ts'];

/** Files that wait for processes and servers begin first; quick ones fill the gaps at the end. */
class ServersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isQuick = ({ project }: TestSpecification) => project.name === 'quick';
    return [...sorted.filter((file) => !isQuick(file)), ...sorted.filter(isQuick)];
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: [
      { extends: true, test: { name: 'servers', include: SERVERS } },
      { extends: true, test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: SERVERS } },
    ],
    pool: 'forks',
    // A process and its sources for each file cost a third of the time of quick ones: a worker
    // keeps both from file to file. No file may change environment, globals or modules.
    isolate: false,
    // Most of the time is spent waiting for processes and servers, so more workers than vitest's
    // default help on two cores.
    maxWorkers: 5,
    sequence: { sequencer: ServersFirst },
    tags: [{ name: 'long', description: 'npm run test:long; every change is tested without them' }],
    // The command line as it was built, for `runHere`.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: oneSeed,
    // These end what hangs. A busy machine takes ten times as long as a quiet one.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 180_000,
    reporters: ['default', ...(process.env.CI ? ['json'] : []), missingServers],
    outputFile: { json: '.test-results.json' },
  },
});
