/** The commands `serve` (with `--statement`: what its accounts owe) and `generate-catalogue`. */
import type { Settings } from '../config/settings.js';
import type { CommandContext } from '../context/open-context.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import { writeCatalogue } from '../local-service/generate-catalogue.js';
import { readStatements, serve } from '../local-service/serve.js';

export async function runServe(settings: Settings, context: CommandContext): Promise<ExitCode> {
  const { port, host, catalogue, accounts, ownDomain, journal, faults, month } = settings;
  if (settings.statement && accounts !== null) {
    const statements = await readStatements({ accounts, month: month ?? undefined });
    for (const statement of statements) printJson(context.stdout, statement);
    return EXIT.done;
  }
  const serving = await serve({
    port,
    host,
    catalogue: catalogue ?? undefined,
    accounts: accounts ?? undefined,
    ownDomain: ownDomain ?? undefined,
    journal: journal ?? undefined,
    faults,
    log: context.log,
  });
  printText(context.stderr, `${serving.message}\n`);
  await untilAborted(context.stop);
  await serving.close();
  return EXIT.done;
}

/**
 * Throws `NeverStartError` for numbers that do not fit together, `FailFileError` when the file
 * cannot be written.
 */
export async function runGenerateCatalogue(
  path: string,
  settings: Settings,
  { stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const { brands, cryptoSymbols, etfTickers, etfProviders, seed, json, quiet } = settings;
  const numbers = { brands, cryptoSymbols, etfTickers, etfProviders, seed };
  await writeCatalogue(path, numbers);
  if (json) printJson(stdout, { file: path, ...numbers });
  const next = `serve them with: brand-enrich serve --catalogue ${path}`;
  if (!quiet) printText(stderr, `${path} has ${brands} brands; ${next}\n`);
  return EXIT.done;
}
