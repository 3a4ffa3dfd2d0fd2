/** Opens input and chooses columns from its beginning: errors show before anything else opens. */
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { type ErrorCode, FailFileError, NeverStartError } from '../../core/errors.js';
import { joinPhrases, phrase } from '../../core/phrase.js';
import { isJson, type TableShape } from '../../core/table.js';
import { NAME_AT_MOST, shortName } from '../../core/terminal-text.js';
import { readingStopped } from '../../input/byte-source.js';
import { chooseColumns } from '../../input/identify/choose-columns.js';
import { assertOwnColumn, findColumn } from '../../input/identify/find-column.js';
import type { Input } from '../../input/input.js';
import { type IntakeOptions, openInput, sheetNames } from '../../input/open-input.js';
import { showDelimiter } from '../../input/text/sniff-table.js';
import type { Settings } from '../../settings/settings.js';
import { jsonKey } from '../output/earlier-key.js';
import { Priorities } from './priorities.js';
import { RowFilter } from './row-filter.js';

/** How a table is read, and what of it. */
type TableSettings = Pick<Settings, TextSetting | ColumnSetting>;
type TextSetting =
  | 'delimiter'
  | 'encoding'
  | 'header'
  | 'skipLines'
  | 'limit'
  | 'sheet'
  | 'records'
  | 'ragged';
type ColumnSetting = 'columns' | 'kind' | 'allowMismatch' | 'prefix' | 'priority' | 'where' | 'nameColumn';

/** `priorities`: null without `--priority`. */
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
}

/** The settings that say how a file is read. */
export function intakeOf(
  settings: Pick<Settings, TextSetting>,
): Omit<IntakeOptions, 'only' | 'spoolFolder' | 'stop'> {
  const { delimiter, encoding, header, skipLines, limit, sheet, records, ragged } = settings;
  return {
    ...(delimiter !== null && { delimiter }),
    ...(encoding !== null && { encoding }),
    hasHeader: header,
    skipLines,
    limit,
    ...(sheet !== null && { sheet }),
    ...(records !== null && { records }),
    ...(ragged !== null && { ragged }),
  };
}

/**
 * `spoolFolder`: for input that can be read only once. `onInput` is called with what is opened,
 * also if its columns are unclear. Throws what opening and choosing throw.
 */
export async function openTable(
  request: TableRequest,
  spoolFolder: string,
  stop: AbortSignal,
  onInput: (input: Input) => void = () => undefined,
): Promise<OpenedTable> {
  const options = { ...intakeOf(request.settings), only: request.only, spoolFolder, stop };
  let input: Input | undefined;
  try {
    input = await openInput(request.input, request.stdin, options);
    onInput(input);
    return { input, ...chooseFrom(input, request) };
  } catch (error) {
    await input?.close();
    const again = { ...request, only: request.only ?? 'file' } as const;
    const sheet = await findOtherSheet(error, again, { ...options, only: again.only });
    const settings = { ...request.settings, sheet };
    const opened = await openTable({ ...again, settings }, spoolFolder, stop, onInput);
    const setting = { setting: 'sheet' };
    const shown = `'${shortName(sheet)}'`;
    opened.input.note(
      phrase`sheet ${shown} is read, because the first has no identifiers; choose another with ${setting}`,
    );
    return opened;
  }
}

/** Problems of a sheet without a table. */
const NO_TABLE: readonly ErrorCode[] = ['column-unknown', 'input-empty', 'input-preamble'];
const SHEETS_TRIED = 10;

/**
 * A workbook may begin with a cover sheet: the one other visible sheet whose columns are clear.
 * Throws the error unless the user chose no sheet and the first has no identifiers; names several.
 */
async function findOtherSheet(
  error: unknown,
  request: TableRequest,
  options: IntakeOptions,
): Promise<string> {
  const { input: path } = request;
  const isOurs = error instanceof NeverStartError || error instanceof FailFileError;
  const isElsewhere = isOurs && (NO_TABLE.includes(error.code) || error.hasNoIdentifiers);
  if (!isElsewhere || path === '-' || options.sheet !== undefined) throw error;
  const names = await sheetNames(path, options).catch(() => []);
  const sheets: string[] = [];
  for (const sheet of names.slice(1, 1 + SHEETS_TRIED))
    if (sheet.length <= NAME_AT_MOST && (await hasTable(request, { ...options, sheet }))) sheets.push(sheet);
  if (options.stop?.aborted) throw readingStopped(path);
  const [only, ...others] = sheets;
  if (only === undefined) throw error;
  if (others.length === 0) return only;
  const { code, what, subject } = error.detail;
  const { cause } = error;
  const choices = sheets.map((sheet) => ({ set: { sheet } }));
  const todo = phrase`choose a sheet with identifiers: ${joinPhrases(choices, ' or ')}`;
  const Named = error instanceof NeverStartError ? NeverStartError : FailFileError;
  throw new Named({ code, what: phrase`${what} in the first sheet`, subject, todo, cause });
}

/** Whether its columns are clear. */
async function hasTable(request: TableRequest, options: IntakeOptions): Promise<boolean> {
  let input: Input | undefined;
  try {
    input = await openInput(request.input, null, options);
    chooseFrom(input, request);
    return true;
  } catch {
    return false;
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
export function chooseFrom(input: Input, { settings }: { readonly settings: Pick<Settings, ColumnSetting> }) {
  const { shape, sample, name } = input;
  const { columns, format } = shape;
  const { columns: requested, kind, allowMismatch, priority, where, nameColumn } = settings;
  const { prefix } = settings;
  const ours = isJson(format) ? { prefix, key: jsonKey(prefix) } : { prefix };
  const choose = () => {
    const filter = new RowFilter(columns, where);
    const selected = sample.filter((cells) => filter.reasonAgainst(cells) === null);
    const isSeen = selected.length > 0;
    const chosen = chooseColumns({
      requested,
      kind,
      // Rows that are not looked up prove nothing against a kind.
      allowMismatch: allowMismatch || !isSeen,
      fileName: basename(name),
      columns,
      sample: isSeen ? selected : sample,
      ...ours,
    });
    /** Position of the column with the names to compare; null without `--name-column`. */
    const nameAt =
      nameColumn === null ? null : findColumn(columns, { name: nameColumn, kind: null }, 'nameColumn').column;
    for (const at of filter.places) assertOwnColumn(columns, at, chosen.ours, 'where');
    if (nameAt !== null) assertOwnColumn(columns, nameAt, chosen.ours, 'nameColumn');
    return { chosen, filter, nameAt };
  };
  const choice = namingDelimiter(shape, () => namingSheet(input, choose));
  return { ...choice, priorities: priority && new Priorities(columns, priority) };
}

/** The sheet may be the wrong one, or its cells blank, for a reason that was seen on opening it. */
function namingSheet<T>({ shape, detected, warnings }: Input, choose: () => T): T {
  try {
    return choose();
  } catch (error) {
    if (!(error instanceof NeverStartError) || shape.format !== 'xlsx') throw error;
    const { detail } = error;
    throw new NeverStartError({
      ...detail,
      todo: joinPhrases([detail.todo, `detected: ${detected}`, ...warnings], '; '),
    });
  }
}

/** If a whole table became one column, its delimiter may be missing, not the identifiers. */
function namingDelimiter<T>(shape: TableShape, choose: () => T): T {
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
