/**
 * The door of `serve`: the local service until it is told to stop, or with `--statement` what its accounts owe.
 */
import type { Settings } from '../config/settings.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { type CommandStreams, printJson, printText } from '../core/terminal-text.js';
import { writeCatalogue } from '../local-service/generate-catalogue.js';
import { readStatements, serve } from '../local-service/serve.js';

export interface ServeDoor {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly log: Log;
  readonly stop: AbortSignal;
}

export async function runServe(settings: Settings, door: ServeDoor): Promise<ExitCode> {
  if (settings.statement && settings.accounts !== null) {
    const { accounts, month } = settings;
    for (const statement of await readStatements({ accounts, month: month ?? undefined })) {
      printJson(door.stdout, statement);
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
    log: door.log,
  });
  printText(door.stderr, `${serving.message}\n`);
  await new Promise<void>((resolve) => {
    if (door.stop.aborted) resolve();
    else door.stop.addEventListener('abort', () => resolve(), { once: true });
  });
  await serving.close();
  return EXIT.done;
}

/** Throws NeverStartError for numbers that do not fit together, FailFileError when the file cannot be written. */
export async function runGenerateCatalogue(
  path: string,
  settings: Settings,
  door: Pick<CommandStreams, 'stdout' | 'stderr'>,
): Promise<ExitCode> {
  const { brands, cryptoSymbols, etfTickers, etfProviders, seed } = settings;
  const numbers = { brands, cryptoSymbols, etfTickers, etfProviders, seed };
  await writeCatalogue(path, numbers);
  if (settings.json) printJson(door.stdout, { file: path, ...numbers });
  if (!settings.quiet) {
    printText(
      door.stderr,
      `${path} has ${brands} brands; serve them with: brand-enrich serve --catalogue ${path}\n`,
    );
  }
  return EXIT.done;
}
