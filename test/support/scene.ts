/** The setup of nearly every end-to-end test: service, folder, engine and command line. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { type BrandService, startBrandService } from './brand-service.js';
import { type CliProcess, type CliResult, startCli } from './cli.js';
import type { EngineUnderTest } from './engines.js';
import { runHere, startHere } from './run-here.js';
import { newToken } from './service-options.js';
import { temporaryFolder } from './temporary-folder.js';

export interface Scene {
  readonly service: BrandService;
  readonly folder: string;
  /** The token that processes send; the service's options decide whether it is accepted. */
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
  /** Path of a file in the folder. */
  path(name: string): string;
  write(name: string, content: string | Buffer): Promise<string>;
  files(): Promise<string[]>;
  start(args: readonly string[], env?: Record<string, string>): CliProcess;
  /** The same in this process, see `startHere`: where nothing but Ctrl-C and SIGTERM stops it. */
  startHere(args: readonly string[], env?: Record<string, string>): CliProcess;
  /** In this process if possible, see `runHere`. */
  run(args: readonly string[], env?: Record<string, string>): Promise<CliResult>;
}

/** With this as its `list.csv`. It ends with the test: processes first, then the service. */
export async function createScene(
  engine: EngineUnderTest,
  changes: Parameters<typeof startBrandService>[0] = {},
  list: string | Buffer | null = null,
): Promise<Scene> {
  const folder = await temporaryFolder();
  if (list !== null) await writeFile(join(folder, 'list.csv'), list);
  const token = newToken();
  const service = await startBrandService({ tokens: [token], ...changes });
  const started = new Set<CliProcess>();
  const startedHere = new Set<CliProcess>();
  onTestFinished(async () => {
    for (const process of started) process.kill('SIGKILL');
    for (const command of startedHere) command.kill(command.pid === process.pid ? 'SIGTERM' : 'SIGKILL');
    await Promise.all([...started, ...startedHere].map(({ done }) => done));
    await service.stop();
  });
  const env = { ...engine.env(folder), BRAND_API_URL: service.url, BRAND_API_TOKEN: token };
  const start: Scene['start'] = (args, more = {}) => {
    const process = startCli(args, { cwd: folder, env: { ...env, ...more } });
    started.add(process);
    return process;
  };
  return {
    service,
    folder,
    token,
    env,
    start,
    startHere(args, more = {}) {
      const command = startHere(args, { cwd: folder, env: { ...env, ...more } });
      startedHere.add(command);
      void command.done.then(() => startedHere.delete(command));
      return command;
    },
    path: (name) => join(folder, name),
    async write(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    files: () => readdir(folder),
    run: (args, more = {}) => runHere(args, { cwd: folder, env: { ...env, ...more } }),
  };
}

/** A list of this many distinct domains: `Site,Note` with the row's number as note. */
export function domainList(count: number, prefix = 'brand'): string {
  const lines = Array.from({ length: count }, (_, index) => `${domainAt(index, prefix)},row ${index + 1}`);
  return `website,note\n${lines.join('\n')}\n`;
}

export function domainAt(index: number, prefix = 'brand'): string {
  return `${prefix}-${String(index + 1).padStart(5, '0')}.com`;
}

/** The same tests on each engine; skipped with a reason where its server is not installed. */
export function describeOn(engines: readonly EngineUnderTest[], tests: (engine: EngineUnderTest) => void) {
  for (const engine of engines) {
    const title =
      engine.missing === null ? `on ${engine.name}` : `on ${engine.name} (skipped: ${engine.missing})`;
    const tags = engine.isLong ? ['long'] : [];
    describe.skipIf(engine.missing !== null)(title, { tags }, () => tests(engine));
  }
}
