/** `engine status` and `engine stop`; export and import are in `engine-transfer.ts`. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, type ExitCode, RunError, usageProblem } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { withReleasers } from '../core/lifecycle.js';
import { visibleLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { type Answer, answerFrom, answerLine, type CommandCall, show } from './answer.js';
import { exportEngine, importInto } from './engine-transfer.js';

/** Carries out an engine command. Throws `ConfigError`, and as opening and writing do. */
export async function runEngineCommand(call: CommandCall): Promise<ExitCode> {
  const { engine, state } = call.settings;
  const isEmbedded = engine === 'embedded';
  switch (call.command) {
    case 'engine status':
      return isEmbedded ? show(await embeddedFacts(state), call) : answerFrom(call, serverFacts);
    case 'engine stop':
      return show(await stopEngine(state, isEmbedded), call);
    case 'engine export':
      return withReleasers((releasers) => exportEngine(call, releasers));
    default:
      return withReleasers((releasers) => importInto(call, releasers));
  }
}

const sizeText = (bytes: number) => `size        ${countText(Math.ceil(bytes / 1_048_576))} MiB`;

async function serverFacts({ kind: engine, address, facts }: Engine): Promise<Answer> {
  const { version, sessions, bytes } = await facts();
  const data = { engine, address, isRunning: true, serverVersion: version, sessions, bytes };
  const lines = [
    `engine      ${engine} at ${address}`,
    `version     ${version ?? 'no data yet'}`,
    `used by     ${countOf(data.sessions, 'session')}`,
    sizeText(data.bytes),
  ];
  return { data, text: visibleLines(lines) };
}

async function embeddedFacts(state: string): Promise<Answer> {
  const { folders, version: number, isRunning, users, sessions } = await inspect(state);
  const { data, log } = folders;
  const version = number === null ? null : `PostgreSQL ${number}`;
  const bytes = await sizeOf(data);
  const numbers = users.length === 0 ? '' : ` (${users.join(', ')})`;
  const used = `${countOf(users.length, 'process', 'processes')}, ${countOf(sessions, 'session')}${numbers}`;
  const lines = [
    `engine      embedded at ${state}`,
    `version     ${version ?? 'no data yet'}`,
    `server      ${isRunning ? 'running' : 'not running; the next command starts it'}`,
    ...(isRunning ? [`used by     ${used}`] : []),
    `data        ${data}`,
    `log         ${log}`,
    sizeText(bytes),
  ];
  const facts = { engine: 'embedded', address: state, isRunning, serverVersion: version, sessions, bytes };
  return { data: { ...facts, processes: users, data, log }, text: visibleLines(lines) };
}

async function inspect(state: string, stopsUnused = false) {
  const { inspectServer } = await import('../engine/embedded/server-sessions.js');
  return inspectServer(state, { stopsUnused });
}

/** Returns the bytes of all files in a folder, without files that vanish in the meantime. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const stat = await lstat(join(entry.parentPath, entry.name)).catch(() => null);
    bytes += stat?.size ?? 0;
  }
  return bytes;
}

async function stopEngine(state: string, isEmbedded: boolean): Promise<Answer> {
  if (!isEmbedded) {
    const what = 'engine stop works only for the embedded engine';
    const todo = 'omit --engine, or stop that server with its own tools';
    throw new ConfigError(usageProblem(what, 'engine stop', todo));
  }
  const { isRunning: stopped } = await inspect(state);
  const after = stopped ? await inspect(state, true) : null;
  if (after?.isRunning) {
    const [first, ...others] = after.users;
    const processes = `${others.length === 0 ? 'process' : 'processes'} ${after.users.join(', ')}`;
    throw new RunError({
      code: 'engine-held',
      what:
        'the embedded engine is used by ' +
        `${first === undefined ? 'a process that is starting' : processes}`,
      subject: state,
      todo: 'stop these processes; the server stops with the last one',
    });
  }
  return answerLine({ stopped }, stopped ? 'the server has stopped' : 'no server is running');
}
