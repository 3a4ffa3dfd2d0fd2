/**
 * Catalogues of any size (`brand-enrich generate-catalogue`): the specified coverage (2,000 crypto symbols, 10,000 ETF
 * tickers of more than 300 providers), which the sample brands cannot have, and beyond. Everything in them is invented.
 * Lines come one by one and depend on the options only, so memory stays flat and the same options always give the
 * same file. One brand is made by `generate-brand.ts`.
 */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { FailFileError, NeverStartError } from '../core/errors.js';
import { systemWords } from '../core/system-error.js';
import { type GenerateOptions, makeLine } from './generate-brand.js';

/** Text written at once: one write per brand would cost more than making it. */
const WRITE_CHARS = 256 * 1024;

/** Lines of a catalogue file, without line ends. Throws `NeverStartError` (`usage-invalid`) on impossible numbers. */
export function* generateCatalogue(options: GenerateOptions): Generator<string, void, undefined> {
  check(options);
  for (let index = 0; index < options.brands; index += 1) yield makeLine(index, options);
}

/**
 * Writes a generated catalogue; gzip when the name ends in `.gz`. The name appears when the file is complete.
 * Throws `NeverStartError` like {@link generateCatalogue} and `FailFileError` (`output-unwritable`).
 */
export async function writeCatalogue(path: string, options: GenerateOptions): Promise<void> {
  check(options);
  const temporary = `${path}.${process.pid}.tmp`;
  const text = Readable.from(batches(generateCatalogue(options)), { objectMode: false });
  try {
    if (path.endsWith('.gz')) await pipeline(text, createGzip({ level: 1 }), createWriteStream(temporary));
    else await pipeline(text, createWriteStream(temporary));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new FailFileError({
      code: 'output-unwritable',
      subject: `${path} (${systemWords(error)})`,
      todo: 'choose a writable place with enough space',
      cause: error,
    });
  }
}

function* batches(lines: Iterable<string>): Generator<string, void, undefined> {
  let batch = '';
  for (const line of lines) {
    batch += `${line}\n`;
    if (batch.length < WRITE_CHARS) continue;
    yield batch;
    batch = '';
  }
  if (batch) yield batch;
}

function check(options: GenerateOptions): void {
  const problems = Object.entries(options)
    .filter(([name, value]) => !Number.isSafeInteger(value) || (value < 0 && name !== 'seed'))
    .map(([name, value]) => `${name} is ${value}, not a whole number`);
  if (options.etfProviders > options.brands)
    problems.push(`${options.etfProviders} ETF providers in ${options.brands} brands`);
  if (options.etfTickers > 0 && options.etfProviders === 0)
    problems.push('ETF tickers without ETF providers');
  if (options.cryptoSymbols > 0 && options.brands === 0) problems.push('crypto symbols without brands');
  if (problems.length === 0) return;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'the catalogue cannot be generated',
    subject: problems.join(', '),
    todo: 'correct the numbers',
  });
}
