/** The commands `serve` (with `--statement`: what its accounts owe) and `generate-catalogue`. */
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import { writeCatalogue } from '../local-service/generate-catalogue.js';
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

/** Throws for numbers that do not fit together, and when the file cannot be written. */
export async function runGenerateCatalogue(call: CommandCall): Promise<ExitCode> {
  const { settings, stdout, stderr } = call;
  const [path = ''] = call.args;
  const { brands, cryptoSymbols, etfTickers, etfProviders, seed, json, quiet } = settings;
  const numbers = { brands, cryptoSymbols, etfTickers, etfProviders, seed };
  await writeCatalogue(path, numbers);
  if (json) printJson(stdout, { file: path, ...numbers });
  const next = `serve them with: brand-enrich serve --catalogue ${path}`;
  if (!quiet) printText(stderr, `${path} has ${brands} brands; ${next}\n`);
  return EXIT.done;
}
