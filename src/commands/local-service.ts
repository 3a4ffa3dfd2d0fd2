/** `serve`: runs the local service, or with `--statement` prints what its accounts owe. */
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import { readStatements, serve } from '../local-service/serve.js';
import type { CommandCall } from './answer.js';

export async function runServe(call: CommandCall): Promise<ExitCode> {
  const { settings, stdout, stderr, stop, log } = call;
  const { port, host, catalogue, accounts, ownDomain, journal, faults, month } = settings;
  if (settings.statement && accounts !== null) {
    for (const each of await readStatements({ accounts, month })) printJson(stdout, each);
    return EXIT.done;
  }
  const serving = await serve({ port, host, catalogue, accounts, ownDomain, journal, faults, log });
  printText(stderr, `${serving.message}\n`);
  await untilAborted(stop);
  await serving.close();
  return EXIT.done;
}
