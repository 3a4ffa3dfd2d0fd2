/**
 * The door of `generate-catalogue`: a catalogue of invented brands for the local service.
 */
import type { Settings } from '../config/settings.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { type CommandStreams, printJson, printText } from '../core/terminal-text.js';
import { writeCatalogue } from '../local-service/generate-catalogue.js';

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
