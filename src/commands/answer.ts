/** What a command that looks or gives orders says: text for people, with `--json` data for programs. */
import type { Settings } from '../config/settings.js';
import { type CommandContext, openStores } from '../context/open-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { withReleasers } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';

export interface Answer {
  readonly data: unknown;
  readonly text: string;
}

export function show(
  { data, text }: Answer,
  { json }: Pick<Settings, 'json'>,
  { stdout }: Pick<CommandContext, 'stdout'>,
): ExitCode {
  if (json) printJson(stdout, data);
  else printText(stdout, text);
  return EXIT.done;
}

/** Shows what `ask` finds in the engine. Throws what opening the engine throws. */
export function answerFrom(
  settings: Settings,
  context: CommandContext,
  ask: (stores: Engine) => Promise<Answer>,
): Promise<ExitCode> {
  return withReleasers(async (releasers) =>
    show(await ask(await openStores(settings, context, releasers)), settings, context),
  );
}
