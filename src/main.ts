/**
 * What every root does with its process: arguments, environment, signals and exit codes meet here and nowhere else.
 * The roots are `cli.ts` and `workers/*.ts`.
 */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { failureOf, failureText } from './commands/failure-text.js';
import { parseCommandLine } from './config/command-line.js';
import { type ConfigFile, loadSettings, readConfigFile, wantsJson } from './config/load-settings.js';
import type { CommandName } from './config/setting.js';
import { inheritedFlags, type Settings } from './config/settings.js';
import { EXIT } from './core/errors.js';
import { openLog } from './core/log.js';
import { keepSecret } from './core/secrets.js';
import { printJson, printText } from './core/terminal-text.js';
import { leftBehind } from './worker/in-flight.js';

/** SIGTERM gives this long in all; requests in flight get less, so that the file can still be written. */
const TERM_MS = 25_000;
const TERM_GRACE_MS = 15_000;
const LINGER_MS = 3_000;

/** Commands that go on until they are stopped. */
const STAYING: readonly CommandName[] = ['watch', 'up', 'worker', 'serve', 'schedule serve'];

/** Found upwards: this file runs from `dist/src`. */
function packageVersion(): string {
  const path = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** What was found out before something went wrong. */
interface Known {
  file: ConfigFile | null;
  settings: Settings | null;
}

async function runArguments(argv: readonly string[], known: Known): Promise<number> {
  const parsed = parseCommandLine(argv, packageVersion());
  if ('help' in parsed) {
    printText(process.stdout, parsed.help);
    return EXIT.done;
  }
  if ('version' in parsed) {
    printText(process.stdout, `${parsed.version}\n`);
    return EXIT.done;
  }
  const file = readConfigFile({ flags: parsed.flags, env: process.env, folder: process.cwd() });
  known.file = file;
  const loaded = loadSettings({
    flags: parsed.flags,
    env: process.env,
    file,
    command: parsed.command,
    home: homedir(),
    isRoot: isRoot(),
  });
  known.settings = loaded.settings;
  const { stop, graceMs } = listenForSignals(loaded.settings);
  const { log, reopen } = openLog({
    level: levelFor(parsed.command, loaded.settings),
    file: loaded.settings.logFile ?? undefined,
  });
  // Of a run it stays what it is everywhere: the terminal is gone.
  if (loaded.settings.logFile !== null && STAYING.includes(parsed.command)) process.on('SIGHUP', reopen);
  const { runCommand } = await import('./commands/run-command.js');
  return runCommand(parsed.command, parsed.args, loaded, {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    log,
    stop,
    graceMs,
    configFile: file,
    folder: process.cwd(),
    load: (command, flags, fallback = {}) =>
      loadSettings({
        flags: { ...inheritedFlags(parsed.flags), ...flags },
        env: withFallback(process.env, fallback),
        file,
        command,
        home: homedir(),
        isRoot: isRoot(),
      }),
  });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** An empty variable counts as not set. */
function withFallback(env: NodeJS.ProcessEnv, fallback: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...env, ...Object.fromEntries(Object.entries(fallback).filter(([name]) => !env[name])) };
}

/** A run shows people what they need, so its log is for warnings, unless there is a log file or a level is named. So is `--quiet`. */
function levelFor(command: CommandName, settings: Settings): string {
  if (settings.logFile !== null || settings.logLevel !== 'info') return settings.logLevel;
  return STAYING.includes(command) && !settings.quiet ? 'info' : 'warn';
}

/** Said however little is: money may be at stake. */
function leaveAtOnce(): never {
  const left = leftBehind();
  if (left !== '') printText(process.stderr, `\n${left}\n`);
  process.exit(EXIT.interrupted);
}

function listenForSignals(settings: Settings): { stop: AbortSignal; graceMs: (timeoutMs: number) => number } {
  const stopping = new AbortController();
  // Each inbox, schedule and run listens for the end of the process.
  setMaxListeners(0, stopping.signal);
  let isTerm = false;
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    if (stopping.signal.aborted) leaveAtOnce();
    if (signal === 'SIGTERM') {
      isTerm = true;
      setTimeout(leaveAtOnce, TERM_MS).unref();
    }
    if (!settings.quiet) {
      printText(
        process.stderr,
        '\nstopping: no new requests; waiting for those in flight (press Ctrl-C again to leave at once)\n',
      );
    }
    stopping.abort(new Error(`stopped by ${signal}`));
  };
  process.on('SIGINT', () => onSignal('SIGINT'));
  process.on('SIGTERM', () => onSignal('SIGTERM'));
  return {
    stop: stopping.signal,
    graceMs: (timeoutMs) => (isTerm ? Math.min(timeoutMs, TERM_GRACE_MS) : timeoutMs),
  };
}

/** Runs one command to its end and sets the exit code of the process. Never rejects. */
export async function main(argv: readonly string[]): Promise<void> {
  const known: Known = { file: null, settings: null };
  try {
    process.exitCode = await runArguments(argv, known);
  } catch (error) {
    const { env } = process;
    const secrets = [known.settings?.token ?? env.BRAND_API_TOKEN ?? ''];
    for (const secret of secrets) keepSecret(secret);
    const failure = failureOf(error, secrets);
    process.exitCode = failure.error.exitCode;
    if (wantsJson({ argv, env, ...known })) printJson(process.stdout, failure);
    printText(process.stderr, failureText(error, secrets));
  }
  // Whatever still holds the loop (a socket that does not close) has had its deadline.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
