/**
 * `engine status` and `engine stop`: the engine itself. The way from one engine to another is in `engine-transfer.ts`.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandName } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { type CommandContext, openStores } from '../context/open-context.js';
import { EXIT, type ExitCode, FailFileError, NeverStartError } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { type Releasers, withReleasers } from '../core/lifecycle.js';
import { printJson, printText, visibleLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { exportEngine, importInto } from './engine-transfer.js';

/** Throws NeverStartError for what the engine cannot do, and what opening it, reading or writing throws. */
export function runEngineCommand(
  command: CommandName,
  args: readonly string[],
  settings: Settings,
  context: CommandContext,
): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    switch (command) {
      case 'engine status':
        return showEngine(settings, context, releasers);
      case 'engine stop':
        return stopEngine(settings, context);
      case 'engine export':
        return exportEngine(settings, context, releasers);
      default:
        return importInto(args[0] ?? '-', settings, context, releasers);
    }
  });
}

async function showEngine(
  settings: Settings,
  context: CommandContext,
  releasers: Releasers,
): Promise<ExitCode> {
  const facts =
    settings.engine === 'embedded'
      ? await embeddedFacts(settings.state)
      : await serverFacts(await openStores(settings, context, releasers));
  if (settings.json) printJson(context.stdout, facts);
  else printText(context.stdout, visibleLines(factLines(facts)));
  return EXIT.done;
}

interface EngineFacts {
  readonly engine: Engine['kind'];
  readonly address: string;
  readonly isRunning: boolean;
  /** null: there are no data yet. */
  readonly version: string | null;
  readonly sessions: number;
  readonly bytes: number;
  /** Embedded: the processes that use it, its data folder and its log. */
  readonly processes?: readonly number[];
  readonly data?: string;
  readonly log?: string;
}

async function serverFacts({ kind, address, facts }: Engine): Promise<EngineFacts> {
  return { engine: kind, address, isRunning: true, ...(await facts()) };
}

async function embeddedFacts(state: string): Promise<EngineFacts> {
  const { lookAtServer } = await import('../engine/embedded/server-sessions.js');
  const { folders, version, isRunning, users, sessions } = await lookAtServer(state, { stops: false });
  return {
    engine: 'embedded',
    address: state,
    isRunning,
    version: version === null ? null : `PostgreSQL ${version}`,
    sessions,
    bytes: await sizeOf(folders.data),
    processes: users,
    data: folders.data,
    log: folders.log,
  };
}

/** Of all files in a folder; what vanishes meanwhile counts nothing. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (entry.isFile())
      bytes += await lstat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      );
  }
  return bytes;
}

function factLines(facts: EngineFacts): string[] {
  const { engine, address, isRunning, version, sessions, bytes, processes, data, log } = facts;
  const lines = [`engine      ${engine} at ${address}`, `version     ${version ?? 'no data yet'}`];
  if (processes === undefined) lines.push(`used by     ${countOf(sessions, 'session')}`);
  else {
    const users = `${countOf(processes.length, 'process', 'processes')}, ${countOf(sessions, 'session')}`;
    const numbers = processes.length === 0 ? '' : ` (${processes.join(', ')})`;
    lines.push(`server      ${isRunning ? 'running' : 'not running; the next command starts it'}`);
    if (isRunning) lines.push(`used by     ${users}${numbers}`);
  }
  if (data !== undefined && log !== undefined) lines.push(`data        ${data}`, `log         ${log}`);
  lines.push(`size        ${countText(Math.ceil(bytes / 1_048_576))} MiB`);
  return lines;
}

async function stopEngine(settings: Settings, context: CommandContext): Promise<ExitCode> {
  if (settings.engine !== 'embedded') {
    throw new NeverStartError({
      code: 'usage-invalid',
      what: 'only the server of the embedded engine can be stopped',
      subject: 'engine stop',
      todo: 'leave out --engine, or stop that server with its own tools',
    });
  }
  const { lookAtServer } = await import('../engine/embedded/server-sessions.js');
  const before = await lookAtServer(settings.state, { stops: false });
  const after = before.isRunning ? await lookAtServer(settings.state, { stops: true }) : before;
  if (after.isRunning) {
    const users =
      after.users.length === 0 ? 'a process that is just beginning' : countedProcesses(after.users);
    throw new FailFileError({
      code: 'engine-held',
      what: `the embedded engine is used by ${users}`,
      subject: settings.state,
      todo: 'end what uses it, and the server stops with the last one',
    });
  }
  if (settings.json) printJson(context.stdout, { stopped: before.isRunning });
  else printText(context.stdout, before.isRunning ? 'the server is stopped\n' : 'no server is running\n');
  return EXIT.done;
}

function countedProcesses(users: readonly number[]): string {
  return `${users.length === 1 ? 'process' : 'processes'} ${users.join(', ')}`;
}
