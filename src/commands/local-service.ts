/** The commands `serve` (with `--statement`: what its accounts owe) and `generate-catalogue`. */
import type { Settings } from '../config/settings.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { printJson, printText, type Streams } from '../core/terminal-text.js';
import { writeCatalogue } from '../local-service/generate-catalogue.js';
import { readStatements, serve } from '../local-service/serve.js';

export interface ServeContext {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly log: Log;
  readonly stop: AbortSignal;
}

export async function runServe(settings: Settings, context: ServeContext): Promise<ExitCode> {
  if (settings.statement && settings.accounts !== null) {
    const { accounts, month } = settings;
    for (const statement of await readStatements({ accounts, month: month ?? undefined })) {
      printJson(context.stdout, statement);
    }
    return EXIT.done;
  }
  const serving = await serve({
    port: settings.port,
    host: settings.host,
    catalogue: settings.catalogue ?? undefined,
    accounts: settings.accounts ?? undefined,
    ownDomain: settings.ownDomain ?? undefined,
    journal: settings.journal ?? undefined,
    faults: settings.faults,
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
  context: Pick<Streams, 'stdout' | 'stderr'>,
): Promise<ExitCode> {
  const { brands, cryptoSymbols, etfTickers, etfProviders, seed } = settings;
  const numbers = { brands, cryptoSymbols, etfTickers, etfProviders, seed };
  await writeCatalogue(path, numbers);
  if (settings.json) printJson(context.stdout, { file: path, ...numbers });
  if (!settings.quiet) {
    printText(
      context.stderr,
      `${path} has ${brands} brands; serve them with: brand-enrich serve --catalogue ${path}\n`,
    );
  }
  return EXIT.done;
}
