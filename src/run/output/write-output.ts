/** Joins rows and answers, ranks them, writes output and errors file; three counts must agree. */
import { rm, stat } from 'node:fs/promises';
import { RunError } from '../../core/errors.js';
import { parseIdentifierText } from '../../core/identifier.js';
import { createTurns, withReleasers } from '../../core/lifecycle.js';
import { emptyCounts, OUTCOME_STATUSES, type OutcomeStatus, type StatusCounts } from '../../core/outcome.js';
import type { ColumnType } from '../../core/typed-cell.js';
import { type ListedRow, lineOf, listRow, rawOf, readRow, reasonInCell } from '../scan/row-spool.js';
import type { Scan } from '../scan/scan.js';
import { countRecords } from './count-records.js';
import { escapeFormula, sanitizeCell, writeCells } from './csv-record.js';
import { createFiller, FillCounts } from './fill.js';
import { createRowRenderer, type JoinedRow, joinRow, nameMatchOf, RowRanking } from './join-rows.js';
import { nameDoubtOf } from './name-match.js';
import { createOutput, type OutputOptions, type ReaderWait } from './output-file.js';
import { type OutputNames, writeFailure } from './output-names.js';
import {
  type AnswerView,
  doubtOf,
  NOTHING_ASKED,
  type OutputPlan,
  type OutputSettings,
  type Renderer,
} from './output-plan.js';
import { createRenderer } from './render.js';
import { formatsOf, parquetPlan, typesOfRows } from './render-typed.js';

export interface WriteRequest {
  readonly scan: Scan;
  readonly renderer: Renderer;
  readonly plan: OutputPlan;
  readonly names: OutputNames;
  readonly isSorted: boolean;
  readonly isComplete: boolean;
  /** Why identifiers failed, were deferred or were not found for now, by number. */
  readonly reasons: ReadonlyMap<number, string>;
  readonly stdout: NodeJS.WritableStream | null;
  readonly onRows: (rows: number) => void;
  readonly waiting?: ReaderWait;
}

/** True if the input has a mark, or is CSV in another encoding, which Excel assumes without one. */
function hasMark({ format, input }: WriteRequest['plan']): boolean {
  return format === input.format && (input.hasBom || (format === 'csv' && input.encoding !== 'utf-8'));
}

/**
 * Throws RunError `output-unwritable` and `output-miscounted`. `errors`: null without such rows.
 * `readBack`: null on standard output. `listed`: the first rows without a brand. `names`: rows
 * whose names were compared, and those with a low match.
 */
export function writeOutput(request: WriteRequest) {
  return withReleasers(async (releasers) => {
    const { scan, renderer, plan, names, isSorted, isComplete, waiting } = request;
    const target = isComplete ? names.complete : names.partial;
    const isStdout = target === '-';
    const bom = hasMark(plan);
    const shape = { gzip: names.gzip, bom, waiting };
    const header = renderer.header();
    const stdout = isStdout ? request.stdout : null;
    const types = plan.format === 'parquet' ? typesOfRows(plan, scan.rows) : [];
    const around = plan.format === 'json' ? scan.around : null;
    const output = await openTable(target, plan, header !== null, { ...shape, stdout }, types, around);
    releasers.push(() => output.discard());
    const errors = await createErrorsFile(names.errors, plan, shape, types);
    releasers.push(() => errors.discard());
    const fill = createFiller(plan);
    const fillCounts = new FillCounts(plan);
    const differencesName = isComplete ? names.differences : names.partialDifferences;
    const differences = differencesName === null ? null : await createDifferences(differencesName, plan);
    releasers.push(() => differences?.discard());

    if (header !== null) await output.write(header);
    const counts = emptyCounts();
    const nameCounts = { compared: 0, low: 0 };
    const listed = { not_found: [] as ListedRow[], failed: [] as ListedRow[] };
    const answers = scan.answers;
    answers.forgetRows();
    const render = createRowRenderer(renderer, answers);
    const ranking = isSorted ? new RowRanking(scan.rows, answers) : null;
    const turns = createTurns();
    let rows = 0;
    for (const batch of scan.rows.records()) {
      for (const record of batch) {
        if (turns.isOver()) await turns.next();
        const joined = joinRow(record, answers);
        counts[joined.status] += 1;
        if (ranking) ranking.add(joined);
        else await output.write(render(joined));
        if (joined.status === 'not_found' || joined.status === 'failed')
          listRow(listed[joined.status], asListed(joined, request));
        const matched = joined.status === 'matched' ? joined : null;
        const named = matched && (plan.matchesNames || fill) ? answers.rendered(matched.index) : null;
        const nameMatch = named && nameMatchOf(record, named);
        if (named !== null && fill !== null) {
          const differing = fillCounts.add(fill(rawOf(record), named.fill, nameMatch));
          for (const cell of differing) await differences?.add(record.number, cell);
        }
        const nameDoubt = nameDoubtOf(nameMatch, named?.name ?? '');
        if (nameMatch !== null) nameCounts.compared += 1;
        if (nameDoubt !== null) nameCounts.low += 1;
        const doubts = [matched && doubtOf(answers.score(matched.index), plan), nameDoubt];
        const doubt = doubts.filter((each) => each !== null).join('; ') || null;
        if (doubt !== null || isListed(joined.status, plan))
          await addError(errors, joined, request, doubt, nameMatch);
      }
      rows += batch.length;
      request.onRows(rows);
    }
    for (const joined of ranking?.inOrder() ?? []) {
      if (turns.isOver()) await turns.next();
      await output.write(render(joined));
    }
    const { lineEnd, delimiter } = plan.input;
    const { format } = plan;
    const headBytes = Buffer.byteLength(around?.head ?? '') + (bom ? BOM_BYTES : 0);
    const table = {
      ...shape,
      format,
      delimiter: delimiter || ',',
      hasHeader: header !== null,
      lineEnd,
      headBytes,
    };
    let readBack = null as number | null;
    const assertCounts = () => assertAccounts(target, scan.rows.count, counts, readBack);
    // The finished file is counted before it gets its name, so that a miscounted one never has it.
    await output.commit(async (path) => {
      readBack = await countRecords(path, table);
      assertCounts();
    });
    assertCounts();
    await errors.commit();
    await differences?.commit();
    if (isComplete && names.partial !== target) await rm(names.partial, { force: true });
    if (isComplete && names.partialDifferences !== null) await rm(names.partialDifferences, { force: true });
    const file = errors.written.count > 0 ? names.errors : null;
    const { columns, misfits } = fillCounts;
    const fills = fill && {
      columns,
      misfits,
      file: differences && differences.written.count > 0 ? differencesName : null,
    };
    return { output: target, errors: file, counts, names: nameCounts, listed, readBack, fills };
  });
}

const BOM_BYTES = 3;

/** Encodes records as a file, and sends its bytes to an output. */
interface Encoder {
  write(record: string): Promise<void>;
  finish(): Promise<void>;
  discard?(): Promise<void>;
}

async function openTable(
  target: string,
  plan: OutputPlan,
  hasHeader: boolean,
  options: OutputOptions,
  types: readonly ColumnType[],
  around: Scan['around'] = null,
): ReturnType<typeof createOutput> {
  const output = await createOutput(target, options);
  const encoder = await createEncoder(output.write, plan, hasHeader, types, around);
  if (encoder === null) return output;
  return {
    write: (record) => encoder.write(String(record)),
    async commit(verify) {
      await encoder.finish();
      await output.commit(verify);
    },
    async discard() {
      await encoder.discard?.();
      await output.discard();
    },
  };
}

/** Returns null if the records are the file. Loads writers of binary formats on demand. */
async function createEncoder(
  send: (bytes: Buffer | string) => Promise<void>,
  plan: OutputPlan,
  hasHeader: boolean,
  types: readonly ColumnType[],
  around: Scan['around'],
): Promise<Encoder | null> {
  const { format, input } = plan;
  if (format === 'json') return inArray(send, around ?? { head: '', tail: '\n' });
  if (format === 'parquet') {
    const { createParquetFile } = await import('../../input/parquet/parquet-file.js');
    return createParquetFile(send, parquetPlan(plan, types));
  }
  if (format !== 'xlsx') return null;
  const sheetName = input.typed?.sheet ?? 'Enriched';
  const { createXlsxFile } = await import('../../input/xlsx/xlsx-file.js');
  const isFromSheet = input.format === 'xlsx';
  return createXlsxFile(send, { formats: formatsOf(input), isFromSheet, sheetName, hasHeader });
}

/** Encodes records, which end in a line break, as one JSON array with this text around it. */
function inArray(
  send: (text: string) => Promise<void>,
  { head, tail }: NonNullable<Scan['around']>,
): Encoder {
  let before = `${head}[\n`;
  return {
    async write(record) {
      await send(before + record.trimEnd());
      before = ',\n';
    },
    finish: () => send((before === ',\n' ? '\n]' : `${head}[]`) + tail),
  };
}

function asListed({ record, index }: JoinedRow, { scan, reasons }: WriteRequest) {
  const value = () => parseIdentifierText(scan.identifiers.at(index)).value;
  return { line: lineOf(record), reason: reasons.get(index) ?? NOT_KNOWN, value };
}

const NOT_KNOWN = 'the service has no such brand, or withholds it';

const IN_ERRORS_FILE: readonly OutcomeStatus[] = ['failed', 'invalid', 'deferred'];

/** True if all rows with this status go to the errors file. */
function isListed(status: OutcomeStatus, { errorsInclude }: OutputSettings): boolean {
  return IN_ERRORS_FILE.includes(status) || errorsInclude.some((each) => each === status);
}

async function addError(
  errors: Awaited<ReturnType<typeof createErrorsFile>>,
  { record, status, index }: JoinedRow,
  { scan, reasons }: WriteRequest,
  doubt: string | null,
  nameMatch: number | null,
): Promise<void> {
  const row = readRow(record);
  if (row.kind === 'unreadable') return errors.unreadable(row.raw, reasonInCell(row));
  const error = doubt ?? (index < 0 ? reasonInCell(row) : (reasons.get(index) ?? null));
  const identifier = index < 0 ? null : parseIdentifierText(scan.identifiers.at(index));
  return errors.row(row.raw, { ...NOTHING_ASKED, status, identifier, error }, nameMatch);
}

/** Opens the errors file: the user's columns and a few of ours. Throws `output-unwritable`. */
async function createErrorsFile(
  target: string,
  whole: OutputPlan,
  options: Omit<OutputOptions, 'stdout'>,
  types: readonly ColumnType[],
) {
  const plan = { ...whole, fields: [] };
  const renderer = createRenderer(plan);
  const header = renderer.header();
  const output = await openTable(target, plan, header !== null, { ...options, stdout: null }, types);
  const { add, ...file } = optionalFile(target, output, header);
  return {
    ...file,
    row: (raw: string, view: AnswerView, nameMatch: number | null) =>
      add(renderer.row(raw, renderer.answer(view), null, nameMatch)),
    unreadable: (raw: string, reason: string) => add(renderer.unreadable(raw, reason)),
  };
}

/** Opens the file of cells that differ from the brand. Throws `output-unwritable`. */
async function createDifferences(target: string, { escapeFormulas }: OutputPlan) {
  const output = await createOutput(target, { gzip: false, bom: false, stdout: null });
  const { add, ...file } = optionalFile(target, output, 'row,column,theirs,brand\n');
  return {
    ...file,
    add(row: number, { column, theirs, brand }: ReturnType<FillCounts['add']>[number]) {
      const cells = [column, theirs, brand].map((cell) =>
        escapeFormula(sanitizeCell(cell), escapeFormulas === 'none' ? 'none' : 'ours'),
      );
      return add(`${row},${writeCells(cells, ',')}\n`);
    },
  };
}

type OpenOutput = Awaited<ReturnType<typeof createOutput>>;

/** A file that is written only if it has records. */
function optionalFile(target: string, output: OpenOutput, header: string | null) {
  const written = { count: 0 };
  return {
    written,
    async add(record: string): Promise<void> {
      if (written.count === 0 && header !== null) await output.write(header);
      written.count += 1;
      await output.write(record);
    },
    /** Names the file; without records removes the file of an earlier run instead. */
    async commit(): Promise<void> {
      if (written.count > 0) return output.commit();
      await output.discard();
      // Never a pipe or a device: root would remove even /dev/null.
      const earlier = await stat(target).catch(() => null);
      if (earlier?.isFile() !== true) return;
      await rm(target, { force: true }).catch((error: unknown) => {
        throw writeFailure(target, error);
      });
    },
    discard: () => output.discard(),
  };
}

/** Returns the number of rows with a result. */
export function sumOf(counts: StatusCounts): number {
  return OUTCOME_STATUSES.reduce((sum, status) => sum + counts[status], 0);
}

/** Throws RunError `output-miscounted`. `written`: counted in the file; null for a pipe. */
export function assertAccounts(
  path: string,
  read: number,
  byStatus: StatusCounts,
  written: number | null,
): void {
  const settled = sumOf(byStatus);
  if (read === settled && (written === null || written === settled)) return;
  const counts = `${read} records read, ${settled} rows with a status, ${written ?? 'no'} records written`;
  throw new RunError({
    code: 'output-miscounted',
    subject: `${path} (${counts})`,
    todo: 'keep the input and report this bug; paid answers are stored',
  });
}
