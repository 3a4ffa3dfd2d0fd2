/** Opens a table and chooses its columns, before an engine or a service is opened. */
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { ConfigError, type ErrorCode, RunError, readingStopped } from '../core/errors.js';
import { joinPhrases, phrase } from '../core/phrase.js';
import { NAME_AT_MOST, shortName } from '../core/terminal-text.js';
import { type ChoiceSettings, chooseFrom, type TableChoice } from './identify/choose-columns.js';
import type { Input, ReadingSettings } from './input.js';
import { type InputOpening, openInput, sheetNames } from './open-input.js';
import { showDelimiter } from './text/sniff-table.js';

export type TableSettings = ReadingSettings & ChoiceSettings;

export interface Table {
  /** Rows, columns and notes. The caller closes it. */
  readonly input: Input;
  readonly choice: TableChoice;
}

/**
 * Opens a file and chooses its columns. If the first sheet of a workbook has no identifiers, reads
 * the only other sheet with clear columns. Calls `onInput` with each input, before the choice.
 */
export async function readTable(
  path: string,
  settings: TableSettings,
  opening: InputOpening,
  onInput: (input: Input) => void = () => undefined,
): Promise<Table> {
  try {
    return await openChosen(path, settings, opening, onInput);
  } catch (error) {
    const again = { ...opening, only: opening.only ?? 'file' } as const;
    const sheet = await findOtherSheet(error, path, settings, again);
    const table = await openChosen(path, { ...settings, sheet }, again, onInput);
    const setting = { setting: 'sheet' };
    const shown = `'${shortName(sheet)}'`;
    table.input.warnings.push(
      phrase`the first sheet has no identifiers: reading sheet ${shown}; choose another with ${setting}`,
    );
    return table;
  }
}

/** Reads a table before an engine is open. Returns null for input that can be read only once. */
export async function readTableEarly(
  path: string,
  settings: TableSettings,
  stop: AbortSignal,
): Promise<Table | null> {
  if (path === '-') return null;
  const facts = await stat(path).catch(() => null);
  if (facts !== null && !facts.isFile() && !facts.isDirectory()) return null;
  return readTable(path, settings, { spoolFolder: tmpdir(), stop });
}

async function openChosen(
  path: string,
  settings: TableSettings,
  opening: InputOpening,
  onInput?: (input: Input) => void,
): Promise<Table> {
  const input = await openInput(path, settings, opening);
  try {
    onInput?.(input);
    return { input, choice: chooseFrom(input, settings) };
  } catch (error) {
    await input.close();
    throw error instanceof ConfigError ? explained(error, input) : error;
  }
}

const NO_TABLE: readonly ErrorCode[] = ['column-unknown', 'input-empty', 'input-preamble'];
const SHEETS_TRIED = 10;

/** Returns the only other visible sheet with clear columns. Throws unless exactly one has them. */
async function findOtherSheet(
  error: unknown,
  path: string,
  settings: TableSettings,
  opening: InputOpening,
): Promise<string> {
  const isOurs = error instanceof ConfigError || error instanceof RunError;
  const isElsewhere = isOurs && (NO_TABLE.includes(error.code) || error.hasNoIdentifiers);
  if (!isElsewhere || path === '-' || settings.sheet !== null) throw error;
  const names = await sheetNames(path, opening).catch(() => []);
  const sheets: string[] = [];
  for (const sheet of names.slice(1, 1 + SHEETS_TRIED)) {
    if (sheet.length > NAME_AT_MOST) continue;
    const table = await openChosen(path, { ...settings, sheet }, opening).catch(() => null);
    await table?.input.close();
    if (table !== null) sheets.push(sheet);
  }
  if (opening.stop?.aborted) throw readingStopped(path);
  const [only, ...others] = sheets;
  if (only === undefined) throw error;
  if (others.length === 0) return only;
  const { code, what, subject } = error.detail;
  const { cause } = error;
  const choices = sheets.map((sheet) => ({ set: { sheet } }));
  const todo = phrase`choose a sheet with identifiers: ${joinPhrases(choices, ' or ')}`;
  const Named = error instanceof ConfigError ? ConfigError : RunError;
  throw new Named({ code, what: phrase`${what} in the first sheet`, subject, todo, cause });
}

/** Characters that, in the name of a column, are more likely an unrecognised delimiter. */
const MISSED_DELIMITER = /[;,|\t:^~]/;

/** Adds to the error of a choice what was noticed in the file and may be the cause. */
function explained(error: ConfigError, { shape, detected, warnings }: Input): ConfigError {
  const { code, what, subject, todo } = error.detail;
  // The warnings may say why the sheet is the wrong one, or why its cells are blank.
  if (shape.format === 'xlsx') {
    const seen = joinPhrases([todo, `detected: ${detected}`, ...warnings], '; ');
    return new ConfigError({ ...error.detail, todo: seen });
  }
  // If a whole table became one column, the delimiter may be the problem, not the identifiers.
  const [only = '', ...others] = shape.columns;
  const missed = MISSED_DELIMITER.exec(only)?.[0];
  if (shape.format !== 'csv' || others.length > 0 || missed === undefined) return error;
  const isQuoted = shape.rawHeader?.startsWith('"');
  const read = `the file was read as one column, with delimiter ${showDelimiter(shape.delimiter)}`;
  const seen = isQuoted ? 'quotes enclose the whole first line' : read;
  const set = { delimiter: missed === '\t' ? 'tab' : missed };
  const advice = isQuoted
    ? 'remove the quotes if they enclose whole lines'
    : phrase`use ${{ set }} if that separates the cells`;
  return new ConfigError({
    code,
    what: phrase`${what} (${seen})`,
    subject,
    todo: phrase`${advice}; otherwise ${todo}`,
  });
}
