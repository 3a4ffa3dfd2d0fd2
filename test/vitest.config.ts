import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const missingServers = fileURLToPath(new URL('support/missing-servers.ts', import.meta.url));
const oneSeed = fileURLToPath(new URL('support/one-seed.ts', import.meta.url));

const SERVERS = /\/test\/(e2e|dashboard|engine|jobs)\//;

/** Files that wait for processes and servers begin first; quick ones fill the gaps at the end. */
class ServersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isQuick = ({ moduleId }: TestSpecification) => !SERVERS.test(moduleId);
    return [...sorted.filter((file) => !isQuick(file)), ...sorted.filter(isQuick)];
  }
}

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));
const BUILT = fileURLToPath(new URL('../dist/src/', import.meta.url));

function isBuilt(path: string): boolean {
  const timeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const built = path.replace(/\.tsx?$/, '.js');
  return built === path || timeOf(join(BUILT, built)) >= timeOf(join(SOURCES, path));
}

/**
 * Tests import what was built: compiling the sources in every worker takes a sixth of all the
 * time. While a source is newer than its build, all are compiled here.
 */
const builtSources: Plugin = {
  name: 'built-sources',
  enforce: 'pre',
  apply: () => readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).every(isBuilt),
  resolveId(id, importer = '') {
    const path = id.startsWith('.') && id.endsWith('.js') ? resolve(importer, '..', id) : '';
    return path.startsWith(SOURCES) ? { id: path.replace(SOURCES, BUILT), external: true } : null;
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  plugins: [builtSources],
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // A process and its sources for each file cost a third of the time of quick ones: a worker
    // keeps both from file to file. No file may change environment, globals or modules.
    isolate: false,
    // Most of the time is spent waiting for processes and servers, so more workers than vitest's
    // default help on two cores.
    maxWorkers: 9,
    sequence: { sequencer: ServersFirst },
    tags: [
      { name: 'long', description: 'npm run test:long; every change is tested without them' },
      { name: 'cases', description: 'npm run test:long tries all cases, and npm test a fifth of them' },
    ],
    // The command line as it was built, for `runHere`.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: oneSeed,
    // These end what hangs. A busy machine takes ten times as long as a quiet one.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 180_000,
    reporters: ['default', ...(process.env.CI ? ['json'] : []), missingServers],
    outputFile: { json: process.env.TEST_RESULTS ?? '.test-results.json' },
  },
});
