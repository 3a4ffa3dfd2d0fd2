/** Joins rows and answers, ranks, writes output and errors file; three counts must agree. */
import { rm, stat } from 'node:fs/promises';
import { FailFileError } from '../../core/errors.js';
import { parseIdentifierText } from '../../core/identifier.js';
import { withReleasers } from '../../core/lifecycle.js';
import { emptyCounts, OUTCOME_STATUSES, type OutcomeStatus, type StatusCounts } from '../../core/outcome.js';
import { type ListedRow, listRow } from '../scan/listed-rows.js';
import { lineOf, readRow } from '../scan/row-spool.js';
import type { Scan } from '../scan/scan.js';
import type { ColumnType } from './columns.js';
import { countRecords } from './count-records.js';
import { createRowRenderer, type JoinedRow, joinRow, RowRanking } from './join-rows.js';
import { createOutput, type OutputOptions, type ReaderWait } from './output-file.js';
import { type OutputNames, writeFailure } from './output-names.js';
import { type AnswerView, doubtOf, NOTHING_ASKED, type OutputPlan, type Renderer } from './output-plan.js';
import { createRenderer } from './render.js';
import { formatsOf } from './render-typed.js';

export interface WriteRequest {
  readonly scan: Scan;
  readonly renderer: Renderer;
  readonly plan: OutputPlan;
  readonly names: OutputNames;
  readonly isSorted: boolean;
  readonly isComplete: boolean;
  /** Why identifiers failed, were deferred or not found for now, by number. */
  readonly reasons: ReadonlyMap<number, string>;
  /** Where `-` goes. */
  readonly stdout: NodeJS.WritableStream | null;
  readonly onRows: (rows: number) => void;
  readonly waiting?: ReaderWait;
}

/**
 * Throws FailFileError `output-unwritable` and `output-miscounted`. `output`: `-` for standard
 * output. `errors` null: no such rows, no such file. `readBack`: null on standard output. `listed`:
 * the first rows that were asked and have no brand.
 */
export function writeOutput(request: WriteRequest) {
  return withReleasers(async (releasers) => {
    const { scan, renderer, plan, names, isSorted, isComplete, waiting } = request;
    const target = isComplete ? names.complete : names.partial;
    const isStdout = target === '-';
    const bom = plan.input.hasBom && plan.format === plan.input.format;
    const shape = { gzip: names.gzip, bom, waiting };
    const header = renderer.header();
    const stdout = isStdout ? request.stdout : null;
    const types = plan.format === 'parquet' ? (await parquetFile()).typesOfRows(plan, scan.rows) : [];
    const output = await openTable(target, plan, header !== null, { ...shape, stdout }, types);
    releasers.push(() => output.discard());
    const errors = await createErrorsFile(names.errors, plan, shape, types);
    releasers.push(() => errors.discard());

    if (header !== null) await output.write(header);
    const counts = emptyCounts();
    const listed = { not_found: [] as ListedRow[], failed: [] as ListedRow[] };
    const answers = scan.answers;
    answers.forgetRows();
    const render = createRowRenderer(renderer, answers);
    const ranking = isSorted ? new RowRanking(scan.rows, answers) : null;
    let rows = 0;
    for (const batch of scan.rows.records()) {
      for (const record of batch) {
        const joined = joinRow(record, answers);
        counts[joined.status] += 1;
        if (ranking) ranking.add(joined);
        else await output.write(render(joined));
        if (joined.status === 'not_found' || joined.status === 'failed')
          listRow(listed[joined.status], asListed(joined, request));
        const doubt = joined.status === 'matched' ? doubtOf(answers.score(joined.index), plan) : null;
        if (doubt !== null || isListed(joined.status, plan)) await addError(errors, joined, request, doubt);
      }
      rows += batch.length;
      request.onRows(rows);
    }
    for (const joined of ranking?.inOrder() ?? []) await output.write(render(joined));
    const { lineEnd, delimiter } = plan.input;
    const { format } = plan;
    const table = { ...shape, format, delimiter: delimiter || ',', hasHeader: header !== null, lineEnd };
    let readBack = null as number | null;
    const assertCounts = () => assertAccounts(target, scan.rows.count, counts, readBack);
    // The finished file is counted before it gets its name: a miscounted one never has it.
    await output.commit(async (path) => {
      readBack = await countRecords(path, table);
      assertCounts();
    });
    assertCounts();
    await errors.commit();
    if (isComplete && names.partial !== target) await rm(names.partial, { force: true });
    return { output: target, errors: errors.count > 0 ? names.errors : null, counts, listed, readBack };
  });
}

/** Writers of binary formats are loaded when they are needed: most outputs are text. */
const parquetFile = () => import('./parquet-file.js');

/** An output for the records of the plan's renderer. */
async function openTable(
  target: string,
  plan: OutputPlan,
  hasHeader: boolean,
  options: OutputOptions,
  types: readonly ColumnType[],
): ReturnType<typeof createOutput> {
  const { format, input } = plan;
  const output = await createOutput(target, options);
  if (format === 'parquet') return (await parquetFile()).createParquetFile(output, plan, types);
  if (format === 'json') return inArray(output);
  if (format !== 'xlsx') return output;
  const sheetName = input.typed?.sheet ?? 'Enriched';
  const { createXlsxFile } = await import('./xlsx-file.js');
  const isFromSheet = input.format === 'xlsx';
  return createXlsxFile(output, { formats: formatsOf(input), isFromSheet, sheetName, hasHeader });
}

/** Writes records, which end in a line break, as elements of one JSON array. */
function inArray(output: Awaited<ReturnType<typeof createOutput>>): typeof output {
  let before = '[\n';
  return {
    ...output,
    async write(record) {
      await output.write(before + String(record).trimEnd());
      before = ',\n';
    },
    async commit(verify) {
      await output.write(before === ',\n' ? '\n]\n' : '[]\n');
      await output.commit(verify);
    },
  };
}

function asListed({ record, index }: JoinedRow, { scan, reasons }: WriteRequest) {
  const value = () => parseIdentifierText(scan.identifiers.at(index)).value;
  return { line: lineOf(record), reason: reasons.get(index) ?? NOT_KNOWN, value };
}

const NOT_KNOWN = 'the service has no such brand, or withholds it';

const IN_ERRORS_FILE: readonly OutcomeStatus[] = ['failed', 'invalid', 'deferred'];

/** Whether all rows with this status go to the errors file. */
function isListed(status: OutcomeStatus, { errorsInclude = [] }: OutputPlan): boolean {
  return IN_ERRORS_FILE.includes(status) || errorsInclude.some((each) => each === status);
}

async function addError(
  errors: Awaited<ReturnType<typeof createErrorsFile>>,
  { record, status, index }: JoinedRow,
  { scan, reasons }: WriteRequest,
  doubt: string | null,
): Promise<void> {
  const row = readRow(record);
  if (row.kind === 'unreadable') return errors.unreadable(row.raw, row.reason);
  const error = doubt ?? (index < 0 ? row.reason : (reasons.get(index) ?? null));
  const identifier = index < 0 ? null : parseIdentifierText(scan.identifiers.at(index));
  return errors.row(row.raw, { ...NOTHING_ASKED, status, identifier, error });
}

/** Opens the errors file: user columns, our few. Throws FailFileError `output-unwritable`. */
export async function createErrorsFile(
  target: string,
  plan: OutputPlan,
  options: Omit<OutputOptions, 'stdout'>,
  types: readonly ColumnType[] = [],
) {
  const renderer = createRenderer({ ...plan, fields: [] });
  const header = renderer.header();
  const output = await openTable(
    target,
    { ...plan, fields: [] },
    header !== null,
    { ...options, stdout: null },
    types,
  );
  let count = 0;

  async function add(line: string): Promise<void> {
    if (count++ === 0 && header !== null) await output.write(header);
    await output.write(line);
  }

  return {
    /** Rows added so far. */
    get count() {
      return count;
    },
    /** Adds a row, unless its status does not belong here and it has no error. */
    async row(raw: string, view: AnswerView): Promise<void> {
      if (view.error !== null || isListed(view.status, plan))
        await add(renderer.row(raw, renderer.answer(view), null));
    },
    /** Adds a row that could not be read. */
    unreadable: (raw: string, reason: string) => add(renderer.unreadable(raw, reason)),
    /** Puts the file under its name; without rows it removes the one of an earlier run instead. */
    async commit(): Promise<void> {
      if (count > 0) return output.commit();
      await output.discard();
      // A pipe or a device is not an earlier run's: root would remove even /dev/null.
      const earlier = await stat(target).catch(() => null);
      if (earlier?.isFile() !== true) return;
      await rm(target, { force: true }).catch((error: unknown) => {
        throw writeFailure(target, error);
      });
    },
    /** Forgets it; an earlier one stays. */
    discard: () => output.discard(),
  };
}

/** Number of rows with a result. */
export function sumOf(counts: StatusCounts): number {
  return OUTCOME_STATUSES.reduce((sum, status) => sum + counts[status], 0);
}

/** `written`: counted in the file; null: a pipe. Throws FailFileError `output-miscounted`. */
export function assertAccounts(
  path: string,
  read: number,
  byStatus: StatusCounts,
  written: number | null,
): void {
  const settled = sumOf(byStatus);
  if (read === settled && (written === null || written === settled)) return;
  const counts = `${read} records read, ${settled} rows with a status, ${written ?? 'no'} records written`;
  throw new FailFileError({
    code: 'output-miscounted',
    subject: `${path} (${counts})`,
    todo: 'keep the input and report this bug; paid answers are stored',
  });
}
