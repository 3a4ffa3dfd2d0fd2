/** SIGTERM to a command at work, and what is then true at the service. */
import { setTimeout as after } from 'node:timers/promises';
import { expect } from 'vitest';
import { statusOf } from '../e2e/commands.js';
import { startUp } from '../e2e/start-up.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import type { CliProcess } from './cli.js';
import type { EngineUnderTest } from './engines.js';
import { domainList, type Scene } from './scene.js';

export const STOPPED_COMMANDS = ['run', 'worker', 'up'] as const;

export interface StoppedWork {
  readonly command: (typeof STOPPED_COMMANDS)[number];
  /** How long the service takes for an answer. */
  readonly latencyMs: number;
  /** From the first billed request to SIGTERM. */
  readonly afterMs: number;
  /** `--stop-grace` */
  readonly grace: string;
  readonly rows: number;
}

export const CONCURRENCY = 12;
const FIRST_MS = 300;

/** Billed, and perhaps billed besides, as `status` reports it of all runs of the scene. */
export async function reportedIn(scene: Scene) {
  const own = (await statusOf(scene)).runs.filter(({ service }) => service === scene.service.url);
  const all = own.flatMap(({ requests, earlier }) => [requests, earlier]);
  const sum = (name: 'billed' | 'unreported') => all.reduce((total, each) => total + each[name], 0);
  return { billed: sum('billed'), unreported: sum('unreported') };
}

/**
 * Sends SIGTERM to a command at work, expects that what is reported is never below the bill and
 * that lost answers are announced, and completes the file. Returns how many answers were lost.
 */
export async function expectHonestStop(engine: EngineUnderTest, work: StoppedWork) {
  const scene = await createInboxScene(engine);
  const { meter, options } = scene.service;
  const { command, latencyMs, afterMs, grace, rows } = work;
  const list = domainList(rows);
  await scene.write('first.csv', 'website\nknown-brand.com\n');
  expect((await scene.run(['run', 'first.csv'])).code).toBe(0);
  // Until the first answer a process sends one request.
  options.latencyMs = Math.min(latencyMs, FIRST_MS);
  const settings = ['--concurrency', String(CONCURRENCY), '--stop-grace', grace];
  await scene.write('list.csv', list);
  const run = ['run', 'list.csv', '--rate', '0'];
  let stopped: CliProcess;
  let other: CliProcess | null = null;
  if (command === 'run') stopped = scene.start([...run, ...settings]);
  else if (command === 'worker') {
    stopped = scene.start(['worker', ...settings]);
    other = scene.start([...run, '--no-worker', '--timeout', '2s']);
  } else {
    stopped = await startUp(scene, { concurrency: CONCURRENCY, stopGrace: grace, rate: 0 });
    await scene.drop('list.csv', list);
  }
  await scene.service.until(() => meter.billed > 1);
  Object.assign(options, { latencyMs, jitterMs: latencyMs / 2 });
  await after(afterMs);
  stopped.kill('SIGTERM');
  const { code, stderr } = await stopped.done;
  other?.kill('SIGINT');
  const said = stderr + ((await other?.done)?.stderr ?? '');
  const { billed } = meter;
  const reported = await reportedIn(scene);
  const facts = JSON.stringify({ ...work, engine: engine.name, code, at: billed, ...reported });
  expect(reported.billed + reported.unreported, facts).toBeGreaterThanOrEqual(billed);
  expect(reported.billed + reported.unreported, facts).toBeLessThanOrEqual(billed + CONCURRENCY);

  Object.assign(options, { latencyMs: 0, jitterMs: 0 });
  if (command === 'up') {
    const again = await startUp(scene);
    await scene.until('done', 1);
    again.kill('SIGKILL');
    await again.done;
  } else {
    const again = await scene.run(run);
    expect(again.code, again.stderr).toBe(0);
  }
  const lost = [...meter.billedOf.values()].filter((times) => times > 1).length;
  expect(reported.unreported, facts).toBeGreaterThanOrEqual(lost);
  if (lost > 0) {
    expect(code, facts).toBe(130);
    expect(said, facts).toContain('may be sent again');
    expect(said, facts).not.toContain('all paid answers are stored');
  } else if (reported.unreported === 0) {
    // A run that was already complete ends with 0.
    if (command !== 'run') expect(code, facts).toBe(0);
    expect(said, facts).not.toContain('may be sent again');
  }
  return { lost, seen: facts };
}
