/** Opens input and chooses columns from its beginning: errors show before anything else opens. */

import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Settings } from '../../config/settings.js';
import { type ErrorCode, FailFileError, NeverStartError } from '../../core/errors.js';
import { joinPhrases, phrase, type Remedy } from '../../core/phrase.js';
import { isJson, type TableShape } from '../../core/table.js';
import { NAME_AT_MOST } from '../../core/terminal-text.js';
import { type IntakeOptions, openInput, sheetNames } from '../../formats/open-input.js';
import { type ChosenColumns, chooseColumns } from '../../identify/choose-columns.js';
import { readingStopped } from '../../intake/byte-source.js';
import type { Input } from '../../intake/input.js';
import { showDelimiter } from '../../intake/sniff-table.js';
import { Priorities } from './priorities.js';

/** How a table is read, and what of it. */
type TableSettings = Pick<Settings, TextSetting | ColumnSetting>;
type TextSetting = 'delimiter' | 'encoding' | 'header' | 'skipLines' | 'limit' | 'sheet' | 'ragged';
type ColumnSetting = 'columns' | 'kind' | 'allowMismatch' | 'prefix' | 'priority';

/** `priorities`: what each identifier is worth; null without `--priority`. */
export interface OpenedTable extends Readonly<ReturnType<typeof chooseFrom>> {
  /** The opener closes the table. */
  readonly input: Input;
}

export interface TableRequest {
  /** A path, or `-` for standard input. */
  readonly input: string;
  readonly stdin: NodeJS.ReadableStream | null;
  readonly settings: TableSettings;
  /** See `IntakeOptions`; not part of a run's key. Absent: pipes and link targets are read too. */
  readonly only?: IntakeOptions['only'];
  /** See `chooseColumns`. Default false. */
  readonly takesVariants?: boolean | undefined;
}

/** The settings that say how a file is read. */
export function intakeOf({
  delimiter,
  encoding,
  header,
  skipLines,
  limit,
  sheet,
  ragged,
}: Pick<Settings, TextSetting>): Omit<IntakeOptions, 'only' | 'spoolFolder' | 'stop'> {
  return {
    ...(delimiter !== null && { delimiter }),
    ...(encoding !== null && { encoding }),
    hasHeader: header,
    skipLines,
    limit,
    ...(sheet !== null && { sheet }),
    ...(ragged !== null && { ragged }),
  };
}

/** `spoolFolder`: for input that can be read only once. Throws what opening and choosing throw. */
export async function openTable(
  request: TableRequest,
  spoolFolder: string,
  stop: AbortSignal,
): Promise<OpenedTable> {
  const options = { ...intakeOf(request.settings), only: request.only, spoolFolder, stop };
  let input: Input | undefined;
  try {
    input = await openInput(request.input, request.stdin, options);
    return { input, ...chooseFrom(input, request) };
  } catch (error) {
    await input?.close();
    throw await namingTables(error, request, options);
  }
}

/** Problems of a sheet that is no table. */
const NO_TABLE: readonly ErrorCode[] = ['column-doubtful', 'column-unknown', 'input-empty', 'input-preamble'];
const SHEETS_TRIED = 10;

/**
 * A workbook may begin with a cover sheet. Where nobody chose that, the error names the sheets
 * whose columns are clear. Other errors are returned unchanged.
 */
export async function namingTables(
  error: unknown,
  request: Pick<TableRequest, 'input' | 'settings' | 'takesVariants'>,
  options: IntakeOptions,
): Promise<unknown> {
  const { input: path } = request;
  const isOurs = error instanceof NeverStartError || error instanceof FailFileError;
  if (!isOurs || !NO_TABLE.includes(error.code) || error.clear !== null) return error;
  if (path === '-' || options.sheet !== undefined) return error;
  // What is no file cannot be read again.
  const again: IntakeOptions = { ...options, only: options.only ?? 'file' };
  const names = await sheetNames(path, again).catch(() => []);
  const others = names.slice(1, 1 + SHEETS_TRIED);
  const sheets: Remedy[] = [];
  for (const sheet of others)
    if (sheet.length <= NAME_AT_MOST && (await hasTable(request, { ...again, sheet })))
      sheets.push({ set: { sheet } });
  if (options.stop?.aborted) return readingStopped(path);
  if (sheets.length === 0) return error;
  const { code, what: found, subject } = error.detail;
  const { cause } = error;
  const what = phrase`${found} in the first sheet`;
  const todo =
    sheets.length === 1
      ? phrase`use ${joinPhrases(sheets, '')}, which has a table with identifiers`
      : phrase`choose a sheet with identifiers: ${joinPhrases(sheets, ' or ')}`;
  const Named = error instanceof NeverStartError ? NeverStartError : FailFileError;
  return new Named({ code, what, subject, todo, cause });
}

/** Whether its columns are clear. */
async function hasTable(
  request: Parameters<typeof namingTables>[1],
  options: IntakeOptions,
): Promise<boolean> {
  let input: Input | undefined;
  try {
    input = await openInput(request.input, null, options);
    chooseFrom(input, request);
    return true;
  } catch (error) {
    return error instanceof NeverStartError && error.clear?.columns !== undefined;
  } finally {
    await input?.close();
  }
}

/**
 * The same before an engine is open. null: the input can be read only once, so it is kept in the
 * state folder, which the engine makes.
 */
export async function openTableEarly(
  request: Omit<TableRequest, 'stdin'>,
  stop: AbortSignal,
): Promise<OpenedTable | null> {
  const { input } = request;
  if (input === '-') return null;
  const facts = await stat(input).catch(() => null);
  if (facts !== null && !facts.isFile() && !facts.isDirectory()) return null;
  return openTable({ ...request, stdin: null }, tmpdir(), stop);
}

/** Chooses the columns to read. Throws `NeverStartError` if they are unclear. */
export function chooseFrom(
  input: Input,
  {
    settings,
    takesVariants,
  }: Pick<TableRequest, 'takesVariants'> & {
    readonly settings: Pick<Settings, ColumnSetting>;
  },
) {
  const { shape, sample } = input;
  const { columns, format } = shape;
  const { columns: requested, kind, allowMismatch, priority } = settings;
  // JSON lines get one key, so none of their columns can be ours.
  const prefix = isJson(format) ? '' : settings.prefix;
  const options = { requested, kind, allowMismatch, takesVariants: takesVariants === true };
  const choose = () => chooseColumns({ ...options, columns, sample, prefix });
  const chosen = namingDelimiter(shape, () => namingSheet(input, choose));
  return { chosen, priorities: priority && new Priorities(columns, priority) };
}

/** The sheet may be the wrong one, or its cells blank, for a reason that was seen on opening it. */
function namingSheet({ shape, warnings }: Input, choose: () => ChosenColumns): ChosenColumns {
  try {
    return choose();
  } catch (error) {
    if (!(error instanceof NeverStartError) || shape.format !== 'xlsx') throw error;
    const { code, what, subject, todo, clear } = error.detail;
    throw new NeverStartError({
      code,
      what,
      subject,
      todo: joinPhrases([todo, ...warnings], '; '),
      clear,
    });
  }
}

/** If a whole table became one column, its delimiter may be missing, not the identifiers. */
function namingDelimiter(shape: TableShape, choose: () => ChosenColumns): ChosenColumns {
  try {
    return choose();
  } catch (error) {
    const [only = '', ...others] = shape.columns;
    const missed = MISSED_DELIMITER.exec(only)?.[0];
    const isOne = shape.format === 'csv' && others.length === 0 && missed !== undefined;
    if (!(error instanceof NeverStartError) || !isOne) throw error;
    const { code, what, subject, todo } = error.detail;
    const read = `the file was read as one column, with delimiter ${showDelimiter(shape.delimiter)}`;
    const delimiter = missed === '\t' ? 'tab' : missed;
    throw new NeverStartError({
      code,
      what: phrase`${what} (${read})`,
      subject,
      todo: phrase`use ${{ set: { delimiter } }} if that separates the cells; otherwise ${todo}`,
    });
  }
}

/** In a column's name more likely a delimiter that was not recognised as one. */
const MISSED_DELIMITER = /[;,|\t:^~]/;
