/**
 * Joins rows with their answers, ranks them and writes the files: the output under its complete or partial name and
 * the errors file, each in one step, and counts what was written.
 */
import { rm } from 'node:fs/promises';
import { parseIdentifierText } from '../../core/identifier.js';
import { withReleasers } from '../../core/lifecycle.js';
import { emptyCounts, type StatusCounts } from '../../core/outcome.js';
import { readRow } from '../scan/row-spool.js';
import type { Survey } from '../scan/survey.js';
import { type CountShape, countRecords } from './count-records.js';
import { createErrorsFile, type ErrorsFile, isInErrorsFile } from './errors-file.js';
import { createSorter } from './external-sort.js';
import {
  createRowPacker,
  createRowRenderer,
  type JoinedRow,
  joinRow,
  unaskedView,
  unpackRows,
} from './join-rows.js';
import { createOutput } from './output-file.js';
import type { OutputNames } from './output-names.js';
import type { OutputPlan, Renderer } from './output-plan.js';
import { assertAccounts } from './reconcile.js';

export interface WriteRequest {
  readonly survey: Survey;
  readonly renderer: Renderer;
  readonly plan: OutputPlan;
  readonly names: OutputNames;
  readonly isSorted: boolean;
  readonly isComplete: boolean;
  /** Why identifiers failed or were deferred, by number. */
  readonly reasons: ReadonlyMap<number, string>;
  /** An existing folder for what does not fit into memory. */
  readonly folder: string;
  /** Where `-` goes. */
  readonly stdout: NodeJS.WritableStream | null;
  readonly onRows: (rows: number) => void;
}

export interface Written {
  /** Where the rows are; `-` for standard output. */
  readonly output: string;
  /** null: there are no such rows, and no such file. */
  readonly errors: string | null;
  readonly counts: StatusCounts;
  /** Records read back from the written file; null when it went to standard output. */
  readonly readBack: number | null;
}

/** Throws FailFileError `output-unwritable` and `output-miscounted`. */
export function writeOutput(request: WriteRequest): Promise<Written> {
  return withReleasers(async (releasers) => {
    const { survey, renderer, plan, names, isSorted, isComplete } = request;
    const target = isComplete ? names.complete : names.partial;
    const isStdout = target === '-';
    const shape = { gzip: names.gzip, bom: plan.input.hasBom && plan.format === plan.input.format };
    const output = await createOutput(target, { ...shape, stdout: isStdout ? request.stdout : null });
    releasers.push(() => output.discard());
    const errors = await createErrorsFile(names.errors, plan, shape);
    releasers.push(() => errors.discard());
    const sorter = createSorter({ folder: request.folder });
    releasers.push(() => sorter.close());

    const header = renderer.header();
    if (header !== null) await output.write(header);
    const counts = emptyCounts();
    const answers = survey.answers;
    answers.forgetRows();
    const render = createRowRenderer(renderer, answers);
    const pack = createRowPacker();
    let rows = 0;
    for (const batch of survey.rows.records()) {
      for (const record of batch) {
        const joined = joinRow(record, answers);
        const { status, rank, index, duplicateOf } = joined;
        counts[status] += 1;
        if (isSorted) {
          const pause = sorter.add(rank.group, rank.score, record.number, pack(joined));
          if (pause) await pause;
        } else await output.write(render(record, index, duplicateOf));
        if (isInErrorsFile(status)) await addError(errors, joined, request);
      }
      rows += batch.length;
      request.onRows(rows);
    }
    if (isSorted) {
      for await (const chunk of sorter.merged()) {
        let text = '';
        for (const { record, index, duplicateOf } of unpackRows(chunk))
          text += render(record, index, duplicateOf);
        await output.write(text);
      }
    }
    const count: CountShape = {
      format: plan.format,
      delimiter: plan.input.delimiter || ',',
      hasHeader: header !== null,
      lineEnd: plan.input.lineEnd,
    };
    let readBack: number | null = null;
    const accounts = () => ({ read: survey.rows.count, byStatus: counts, written: readBack });
    // The finished file is counted before it gets its name: a miscounted one never has it.
    await output.commit(async (path) => {
      readBack = await countRecords(path, count);
      assertAccounts(target, accounts());
    });
    if (readBack === null) assertAccounts(target, accounts());
    await errors.commit();
    if (isComplete && !isStdout) await rm(names.partial, { force: true });
    return { output: target, errors: errors.count > 0 ? names.errors : null, counts, readBack };
  });
}

async function addError(errors: ErrorsFile, joined: JoinedRow, request: WriteRequest): Promise<void> {
  const row = readRow(joined.record);
  if (row.kind === 'unreadable') return errors.unreadable(row.raw, row.reason);
  const { identifiers } = request.survey;
  const error = joined.index < 0 ? row.reason : (request.reasons.get(joined.index) ?? null);
  const identifier = joined.index < 0 ? null : parseIdentifierText(identifiers.at(joined.index));
  return errors.row(row.raw, { ...unaskedView(joined.status, error), identifier });
}
