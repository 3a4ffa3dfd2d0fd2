/** The call that every command gets, and the answers of commands that do no lookups. */
import { type CommandContext, openStores } from '../app/open-stores.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import type { CommandName } from '../settings/setting.js';
import type { LoadedSettings } from '../settings/settings.js';

/** A command with its arguments and settings. */
export interface CommandCall extends CommandContext, LoadedSettings {
  readonly command: CommandName;
  readonly args: readonly string[];
}

/** An answer: text for people, and data for programs (`--json`). */
export interface Answer {
  readonly data: object;
  readonly text: string;
}

/** Returns an answer with one line of text. */
export function answerLine(data: object, line: string): Answer {
  return { data, text: `${line}\n` };
}

/** Prints an answer as text or, with `--json`, as data. */
export function show({ data, text }: Answer, { settings, stdout }: CommandCall): ExitCode {
  if (settings.json) printJson(stdout, data);
  else printText(stdout, text);
  return EXIT.done;
}

/** Commands that write nothing, not even while they open the engine. */
const READ_ONLY: readonly CommandName[] = ['status', 'ledger show', 'outcomes stats', 'schedule list'];

/** Opens the engine and prints the answer of `ask`. Throws as opening the engine does. */
export function answerFrom(call: CommandCall, ask: (stores: Engine) => Promise<Answer>): Promise<ExitCode> {
  const isReadOnly = READ_ONLY.includes(call.command);
  return withReleasers(async (releasers) =>
    show(await ask(await openStores(call.settings, call, releasers, { isReadOnly })), call),
  );
}
