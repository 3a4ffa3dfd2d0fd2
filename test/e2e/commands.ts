/** What tests of whole commands share: engines that run, ends, and what was paid for. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { openEngine } from '../../src/engine/open-engine.js';
import type { Document } from '../../src/run/documents.js';
import type { CliProcess, CliResult } from '../support/cli.js';
import { type EngineUnderTest, embeddedEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { describeOn, type Scene } from '../support/scene.js';
import type { ServiceMeter } from '../support/service-meter.js';

/** Marks a test for `npm run test:long`, which CI runs and `npm test` does not. */
export const LONG = { tags: ['long'] };

/** The same tests on each engine, started before them and stopped after them. */
export function onEngines(engines: readonly EngineUnderTest[], tests: (each: EngineUnderTest) => void): void {
  describeOn(engines, (engine) => {
    beforeAll(() => engine.start());
    afterAll(() => engine.stop());
    tests(engine);
  });
}

/** One engine for all tests of a file that is not about engines: Redis where it is installed. */
export function engineOfFile(): EngineUnderTest {
  const redis = redisEngine();
  const engine = redis.missing === null ? redis : embeddedEngine();
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  return engine;
}

/** The result of a command, which must end with this code, say this, and report no bug. */
export async function ends(code: number, running: Promise<CliResult>, said: string | RegExp = '') {
  const result = await running;
  expect(result.code, result.stderr).toBe(code);
  expect(result.stderr).toMatch(said);
  expect(result.stderr).not.toContain('this is a bug');
  return result;
}

/** What a command prints as JSON; it must end with 0. */
async function printed(scene: Scene, ...args: string[]): Promise<unknown> {
  return JSON.parse((await ends(0, scene.run([...args, '--json']))).stdout);
}

export async function statusOf(scene: Scene) {
  const status = (await printed(scene, 'status')) as Document<'status'>;
  const { account } = status;
  if (account === null) throw new Error('the status has no account');
  return { ...status, account };
}

export async function schedulesOf(scene: Scene): Promise<Document<'schedules'>['schedules']> {
  return ((await printed(scene, 'schedule', 'list')) as Document<'schedules'>).schedules;
}

/** The account of the scene's service. */
export async function accountOf(scene: Scene): Promise<Document<'ledger'>['account']> {
  return ((await printed(scene, 'ledger', 'show')) as Document<'ledger'>).account;
}

/** The engine of the scene's processes, closed with the test. */
export async function openEngineOf({ env, path }: Scene) {
  const address = env.BRAND_ENRICH_ENGINE ?? 'embedded';
  const engine = await openEngine({ engine: address, stateFolder: path('state'), log: silentLog() });
  onTestFinished(() => engine.close());
  return engine;
}

/** Stops a process like a supervisor does; it must end with 0. */
export async function stop(process: CliProcess): Promise<void> {
  process.kill('SIGTERM');
  await ends(0, process.done);
}

/** Ends a process in the middle of its work. */
export async function kill(process: CliProcess): Promise<void> {
  process.kill('SIGKILL');
  await process.done;
}

/** Names of the files below a folder that contain a text; one that vanishes meanwhile does not. */
export async function filesWith(text: string, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const found: string[] = [];
  for (const path of paths) if ((await readFile(path).catch(() => '')).includes(text)) found.push(path);
  return found;
}

/** How many rows of a CSV output have an answer. */
export async function answeredIn(path: string): Promise<number> {
  const { matched = 0, not_found: missing = 0 } = countStatuses(await readRows(path));
  return matched + missing;
}

/** So many requests were billed, and none of them twice. */
export function expectPaidOnce(meter: ServiceMeter, billed: number): void {
  expect(meter.billed).toBe(billed);
  expect(meter.mostBilledOnce()).toBe(1);
}
