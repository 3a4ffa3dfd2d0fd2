/** Runs a command in a process: its arguments, environment, signals and exit code. */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { CommandContext } from './app/open-stores.js';
import type { CommandCall } from './commands/answer.js';
import {
  BrandEnrichError,
  ConfigError,
  EXIT,
  type ExitCode,
  errorText,
  RunError,
  usageProblem,
  worstExit,
} from './core/errors.js';
import { attempt, keepRunning } from './core/lifecycle.js';
import { openLog } from './core/log.js';
import { createRedact, keepSecret } from './core/secrets.js';
import { fileFault, systemWords } from './core/system-error.js';
import { printJson, printText, type Streams } from './core/terminal-text.js';
import { parseCommandLine } from './settings/command-line.js';
import { type ConfigFile, loadSettings, readConfigFile, wantsJson } from './settings/load-settings.js';
import type { CommandName } from './settings/setting.js';
import { inheritedFlags, type LoadedSettings, type Settings } from './settings/settings.js';
import { requestsMark, unansweredRequests, unansweredText } from './worker/worker-stop.js';

/** Part of `--stop-grace`, at most half of it, for writing the partial file. */
const WRITING_MS = 10_000;
/** A timer that is this late did not run because the whole process was suspended. */
const LATE_MS = 1_000;
const LINGER_MS = 3_000;

/** Commands that run until they are stopped. */
const STAYING: readonly CommandName[] = ['watch', 'up', 'worker', 'serve', 'schedule serve'];
/** Commands that do not say themselves how to stop them. */
const NEEDS_STOP_HINT: readonly CommandName[] = ['watch', 'worker', 'schedule serve', 'mcp'];

/** The config file and settings, as far as they were read before an error. */
type Setup = { file: ConfigFile | null; settings: Settings | null };

const OTHERS_WRITE = 0o002;
const GROUP_AND_OTHERS_WRITE = 0o022;

/** Runs the command of this process. Never rejects. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  // Keeps other users from changing an inbox, or the results of a cron job.
  const umask = process.umask();
  if ((umask & OTHERS_WRITE) === 0) process.umask(umask | GROUP_AND_OTHERS_WRITE);
  process.exitCode = await main(argv, process);
  // Whatever still keeps the process alive, such as a socket, has had its deadline.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** The parts of the process that a command uses. `on` is for signals; `exit` ends it at once. */
export interface ProcessFace extends Streams, Pick<NodeJS.Process, 'env'> {
  on(signal: NodeJS.Signals, act: (signal: NodeJS.Signals) => void): unknown;
  exit(code: ExitCode): void;
}

/** Runs one command to its end; returns the exit code. Never rejects. */
export async function main(argv: readonly string[], face: ProcessFace): Promise<number> {
  const { env, stdout, stderr } = face;
  const setup: Setup = { file: null, settings: null };
  let fault = null as Error | null;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe early. Result files report their own errors.
    if (error.code !== 'EPIPE') fault ??= error;
  });
  stderr.on('error', () => undefined);
  try {
    const exitCode = await keepRunning(runArguments(argv, setup, face));
    // The error of a failed write arrives in a later turn.
    await setImmediate();
    if (fault !== null) throw lostOutput(fault);
    return exitCode;
  } catch (error) {
    const token = setup.settings?.token ?? env.BRAND_API_TOKEN ?? '';
    keepSecret(token);
    const { data, text } = failureOf(error, token);
    if (wantsJson({ argv, env, ...setup })) printJson(stdout, data);
    printText(stderr, text);
    return data.error.exitCode;
  }
}

/** With fewer open files, modules, pools or the private server fail at unpredictable places. */
const FEWEST_FILES = 256;

function assertFilesAllowed(): void {
  const limits = attempt(() => readFileSync('/proc/self/limits', 'utf8'), '');
  const most = /^Max open files +(\d+)/m.exec(limits)?.[1];
  if (most !== undefined && Number(most) < FEWEST_FILES) throw filesLimit(`ulimit -n is ${most}`);
}

function lostOutput(cause: Error): RunError {
  const subject = `standard output (${systemWords(cause)})`;
  const todo = 'redirect it to another place, then run again; paid answers are stored';
  return new RunError({ code: 'output-unwritable', subject, todo, cause });
}

async function runArguments(argv: readonly string[], setup: Setup, face: ProcessFace): Promise<number> {
  const { env, stdin, stdout, stderr } = face;
  const parsed = parseCommandLine(argv, packageVersion());
  if (!('command' in parsed)) {
    printText(stdout, 'help' in parsed ? parsed.help : `${parsed.version}\n`);
    return EXIT.done;
  }
  const { command, args, flags } = parsed;
  const [word = ''] = args;
  // These two read no settings, so a wrong config file does not stop them.
  const plain =
    command === 'completion'
      ? (await import('./commands/completion.js')).completionText(word, args.slice(1))
      : command === 'schema'
        ? (await import('./commands/schema.js')).schemaText(word)
        : null;
  if (plain !== null) {
    printText(stdout, plain);
    return EXIT.done;
  }
  assertFilesAllowed();
  const folder = process.cwd();
  const mark = requestsMark();
  const file = command === 'init' ? null : readConfigFile({ flags, env, folder });
  setup.file = file;
  const surroundings = { file, home: homedir(), isRoot: process.getuid?.() === 0 };
  const loaded = loadSettings({ ...surroundings, flags, env, command });
  const { settings } = loaded;
  setup.settings = settings;
  const signals = listenForSignals(settings, face, () => unansweredRequests(mark));
  const { logFile, quiet } = settings;
  const isText = logFile === null && stderr.isTTY === true;
  const level = levelFor(command, loaded, isText);
  const { log, reopen } = openLog({ level, file: logFile, stderr, isText });
  if (isText && NEEDS_STOP_HINT.includes(command) && !quiet)
    printText(stderr, 'Press Ctrl-C to stop; requests in flight are awaited.\n');
  // For other commands SIGHUP keeps its meaning: the terminal was closed.
  if (logFile !== null && STAYING.includes(command)) face.on('SIGHUP', reopen);
  const load: CommandContext['load'] = (of, own, fallback = {}) => {
    // An empty variable counts as not set.
    const unset = Object.fromEntries(Object.entries(fallback).filter(([name]) => !env[name]));
    const given = { flags: { ...inheritedFlags(flags), ...own }, env: { ...env, ...unset } };
    return loadSettings({ ...surroundings, ...given, command: of });
  };
  const context = { stdin, stdout, stderr, log, ...signals, configFile: file, folder, load };
  const [family = ''] = command.split(' ', 1);
  const run =
    COMMAND_FILES[command] ?? COMMAND_FILES[family] ?? (await import('./commands/admin.js')).runAdmin;
  const exitCode = await run({ ...context, ...loaded, command, args });
  return unansweredRequests(mark) > 0 ? worstExit([exitCode, EXIT.interrupted]) : exitCode;
}

function packageVersion(): string {
  // Two folders up, because this file runs from `dist/src`.
  const path = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** Returns the log level: `warn` for commands that show people what they need, unless set. */
function levelFor(
  command: CommandName,
  { settings, origins }: Pick<LoadedSettings, 'settings' | 'origins'>,
  isText: boolean,
): string {
  const { logFile, logLevel, quiet, dashboard } = settings;
  if (logFile !== null || logLevel !== 'info') return logLevel;
  const isShown = isText && command === 'up' && dashboard && origins.logLevel === 'default';
  return STAYING.includes(command) && !quiet && !isShown ? 'info' : 'warn';
}

function listenForSignals(
  { quiet, stopGraceMs }: Settings,
  face: ProcessFace,
  unanswered: () => number,
): Pick<CommandContext, 'stop' | 'graceMs'> {
  const leaveAtOnce = () => {
    const requests = unanswered();
    // Even with `--quiet`, because these requests may be billed.
    if (requests > 0) printText(face.stderr, `\nquit at once: ${unansweredText(requests)}\n`);
    face.exit(EXIT.interrupted);
  };
  const stopping = new AbortController();
  // Each inbox, schedule and run listens for the end of the process.
  setMaxListeners(0, stopping.signal);
  const writingMs = Math.min(WRITING_MS, stopGraceMs / 2);
  let isTerm = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) return leaveAtOnce();
    if (signal === 'SIGTERM') {
      isTerm = true;
      const endsAt = performance.now() + stopGraceMs;
      const leave = () => {
        // After a suspension, first read and store what has arrived in the meantime.
        if (performance.now() - endsAt < LATE_MS) leaveAtOnce();
        setTimeout(leaveAtOnce, writingMs).unref();
      };
      setTimeout(leave, stopGraceMs).unref();
    }
    const how = 'waiting for those in flight (press Ctrl-C again to quit at once)';
    if (!quiet) printText(face.stderr, `\nstopping: no new requests; ${how}\n`);
    stopping.abort(new Error(`stopped by ${signal}`));
  };
  face.on('SIGINT', onSignal);
  face.on('SIGTERM', onSignal);
  return {
    stop: stopping.signal,
    graceMs: (timeoutMs) => (isTerm ? Math.min(timeoutMs, stopGraceMs - writingMs) : timeoutMs),
  };
}

/** Commands by name or first word, loaded on demand because all of them take half a second. */
const COMMAND_FILES: Readonly<Record<string, (call: CommandCall) => Promise<ExitCode>>> = {
  run: async (call) => (await import('./commands/run.js')).runRun(call),
  plan: async (call) => (await import('./commands/plan.js')).runPlan(call),
  watch: async (call) => (await import('./commands/up.js')).runWatch(call),
  up: async (call) => (await import('./commands/up.js')).runUp(call),
  worker: async (call) => (await import('./commands/worker.js')).runWorker(call),
  serve: async (call) => (await import('./commands/local-service.js')).runServe(call),
  pause: async (call) => (await import('./commands/orders.js')).runOrder(call),
  resume: async (call) => (await import('./commands/orders.js')).runOrder(call),
  cancel: async (call) => (await import('./commands/orders.js')).runOrder(call),
  mcp: async (call) => (await import('./commands/mcp.js')).runMcp(call),
  'ledger check': async (call) => (await import('./commands/ledger-check.js')).runLedgerCheck(call),
  engine: async (call) => (await import('./commands/engine.js')).runEngineCommand(call),
  schedule: async (call) => (await import('./commands/schedule.js')).runSchedule(call),
  init: async (call) => (await import('./commands/init.js')).runInit(call),
  doctor: async (call) => (await import('./commands/doctor.js')).runDoctor(call),
  config: async (call) => (await import('./commands/config.js')).runConfig(call),
};

/** Returns why a process ends: `data` for programs, `text` for people, both without the token. */
export function failureOf(thrown: unknown, token: string) {
  const error = faultOfProcess(thrown) ?? thrown;
  if (error instanceof BrandEnrichError) {
    const { code, message, exitCode } = error;
    return { data: { error: { code, message, exitCode } }, text: `brand-enrich: ${message}\n` };
  }
  const redact = createRedact([token]);
  const message = redact(errorText(error));
  const words = error instanceof Error ? redact(error.stack ?? error.message) : message;
  const text = `brand-enrich: this is a bug; please report it: ${words}\n`;
  return { data: { error: { code: 'bug', message, exitCode: EXIT.ioError } }, text };
}

/** Returns the error of a fault that concerns the whole process, or null. */
function faultOfProcess(error: unknown): BrandEnrichError | null {
  const { code, syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (syscall === 'uv_cwd') {
    const todo = 'change to an existing folder, then run again';
    return new ConfigError(usageProblem('the working folder was removed', '.', todo));
  }
  if (code === 'EMFILE' || code === 'ENFILE')
    return filesLimit(code === 'EMFILE' ? 'ulimit -n' : 'fs.file-max', error);
  const fault = fileFault(error);
  if (fault === null) return null;
  const todo = `${fault.advice}, then run again: paid answers are stored`;
  return new RunError({ code: 'file-refused', subject: fault.subject, todo, cause: error });
}

function filesLimit(subject: string, cause?: unknown): RunError {
  const todo = 'raise this limit (4096 is enough), then run again: paid answers are stored';
  return new RunError({ code: 'files-limit', subject, todo, cause });
}
