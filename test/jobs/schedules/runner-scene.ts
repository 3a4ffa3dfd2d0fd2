/**
 * Common setup of the runner tests: an engine per test, runners whose runs end when the test says
 * so, and schedules that are due every second.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/clock.js';
import { silentLog } from '../../../src/core/log.js';
import type { Engine } from '../../../src/engine/engine.js';
import { openEngine } from '../../../src/engine/open-engine.js';
import { createScheduleBook, type ScheduleBook } from '../../../src/jobs/schedules/schedule-book.js';
import {
  createScheduleFiles,
  type Schedule,
  type ScheduleFiles,
} from '../../../src/jobs/schedules/schedule-files.js';
import {
  createScheduleRunner,
  type ScheduledWork,
  type ScheduleRunner,
  type ScheduleRunnerOptions,
} from '../../../src/jobs/schedules/schedule-runner.js';
import { deferred } from '../../support/deferred.js';
import type { EngineUnderTest } from '../../support/engines.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

export const EVERY_SECOND = '* * * * * *';
const ONCE_A_YEAR = '0 0 1 1 *';

export interface RunnerScene {
  readonly engine: Engine;
  /** Unique to this test. */
  readonly host: string;
  /** The state folder of the machine. */
  readonly stateFolder: string;
  readonly files: ScheduleFiles;
  readonly book: ScheduleBook;
  schedule(name: string, changes?: Partial<Schedule>): Schedule;
  /** Starts a runner; by default `execute` succeeds at once. */
  startRunner(changes?: Partial<ScheduleRunnerOptions>): Promise<ScheduleRunner>;
  /** What was started, in order, by any runner. */
  readonly begun: ScheduledWork[];
  /** The same engine, closed and reopened. */
  reopen(): Promise<RunnerScene>;
}

export const WELL = { exitCode: 0, sentence: 'well', output: null };

export async function createRunnerScene(under: EngineUnderTest): Promise<RunnerScene> {
  const folder = await temporaryFolder();
  return openScene(under, folder, `host-${randomBytes(4).toString('hex')}`);
}

async function openScene(under: EngineUnderTest, folder: string, host: string): Promise<RunnerScene> {
  const { BRAND_ENRICH_ENGINE: address = 'embedded' } = under.env(folder);
  const stateFolder = join(folder, 'state');
  const engine = await openEngine({ engine: address, stateFolder, log: silentLog() });
  const files = createScheduleFiles(stateFolder);
  const runners = new Set<ScheduleRunner>();
  const begun: ScheduledWork[] = [];
  const close = async () => {
    await Promise.all([...runners].map((runner) => runner.stop()));
    await engine.close();
  };
  onTestFinished(close);
  return {
    engine,
    host,
    stateFolder,
    files,
    book: createScheduleBook(engine, files, host),
    begun,
    schedule: (name, changes = {}) => ({
      name: `${host}.${name}`,
      id: randomBytes(4).toString('hex'),
      cron: ONCE_A_YEAR,
      tz: 'UTC',
      host,
      line: 'run a.csv',
      input: '/a.csv',
      flags: {},
      catchesUp: false,
      addedAt: Date.now(),
      ...changes,
    }),
    async startRunner({ execute = async () => WELL, ...changes } = {}) {
      const runner = await createScheduleRunner({
        engine,
        host,
        files,
        clock: systemClock,
        log: silentLog(),
        ...changes,
        execute(work) {
          begun.push(work);
          return execute(work);
        },
      });
      runners.add(runner);
      await runner.start();
      return runner;
    },
    async reopen() {
      await close();
      return openScene(under, folder, host);
    },
  };
}

/** A run that continues until the test ends it or it is interrupted. */
export function createSlowRun() {
  const { promise: ended, resolve: end } = deferred();
  const execute: ScheduleRunnerOptions['execute'] = ({ stop }) =>
    new Promise((resolve) => {
      void ended.then(() => resolve(WELL));
      stop.addEventListener('abort', () => resolve({ exitCode: 130, sentence: 'interrupted', output: null }));
    });
  return { execute, end };
}
