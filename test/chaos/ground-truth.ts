/** What every scenario here is judged by: the service's bill and the status of every row. */
import { expect, onTestFailed } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { statusOf } from '../e2e/commands.js';
import type { CliProcess, CliResult } from '../support/cli.js';
import { countStatuses, type OutputRow, readRows } from '../support/output-files.js';
import { createScene, type Scene } from '../support/scene.js';

/** The service bills far beyond the quota, so that the ledger alone keeps a limit. */
export const PAID_ACCOUNT = { plan: 'paid', quota: 300, overageTenths: 10_000 } as const;

/** Flags for a limit of so many requests: those beyond the quota cost 0.1 each. */
export function limitedTo(limit: number): string[] {
  return ['--overage-budget', String((limit - PAID_ACCOUNT.quota) / 10)];
}

/** A scene that logs, when its test fails, what the service saw and what each process said last. */
export async function createLoggedScene(
  ...[engine, changes]: Parameters<typeof createScene>
): Promise<Scene> {
  const scene = await createScene(engine, changes);
  const processes: { readonly args: readonly string[]; readonly process: CliProcess }[] = [];
  const start: Scene['start'] = (args, env) => {
    const process = scene.start(args, env);
    processes.push({ args, process });
    return process;
  };
  onTestFailed(() => {
    const { billed, inFlight } = scene.service.meter;
    console.log(`billed ${billed}, in flight ${inFlight}`);
    for (const { args, process } of processes)
      console.log(`${process.pid} ${args.join(' ')}\n${process.said.slice(-2_000)}`);
  });
  return { ...scene, start, run: (args, env) => start(args, env).done };
}

/** Waits until `condition` holds; fails with the output of `process` when that exits first. */
export async function untilSeen(scene: Scene, process: CliProcess, condition: () => boolean): Promise<void> {
  const ended = process.done.then(({ code, stderr }) => {
    if (!condition()) throw new Error(`ended with ${code} before what was awaited happened: ${stderr}`);
  });
  await Promise.race([scene.service.until(condition), ended]);
}

type Spending = Pick<Document<'status'>['runs'][number]['requests'], 'billed' | 'unreported' | 'overage'>;

/** `status` with the runs of the scene's service alone, and a sum over all their starts. */
export async function readSpending(scene: Scene) {
  const status = await statusOf(scene);
  // The tests of a file share their engine.
  const runs = status.runs.filter(({ service }) => service === scene.service.url);
  const spending: Spending[] = runs.flatMap(({ requests, earlier }) => [requests, earlier]);
  const sum = (numberIn: (each: Spending) => number) =>
    spending.reduce((total, each) => total + numberIn(each), 0);
  return { account: status.account, runs, sum };
}

/** The file is complete, and the service was asked for every identifier. */
export async function expectComplete(scene: Scene, result: CliResult, identifiers: number): Promise<void> {
  expect(result.code, result.stderr).toBe(0);
  const rows = await readRows(scene.path('list.enriched.csv'));
  expect(rows).toHaveLength(identifiers);
  const counts = countStatuses(rows);
  expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(identifiers);
  expect(await scene.files()).not.toContain('list.enriched.partial.csv');
  expect(scene.service.meter.billedOf.size).toBe(identifiers);
}

/** Each row has an answer or is deferred; none has failed. */
export async function expectDeferredOnly(scene: Scene, identifiers: number): Promise<OutputRow[]> {
  const rows = await readRows(scene.path('list.enriched.partial.csv'));
  const { matched = 0, not_found: missing = 0, deferred = 0 } = countStatuses(rows);
  expect(rows).toHaveLength(identifiers);
  expect(matched + missing + deferred).toBe(identifiers);
  return rows.filter((row) => row.brand_status === 'deferred');
}
