/**
 * Joins rows with their answers, ranks them and writes the files: the output under its complete or partial name and
 * the errors file, each in one step, and counts what was written.
 */
import { rm } from 'node:fs/promises';
import { type CountShape, countRecords } from '../collate/count-records.js';
import { createErrorsFile, isInErrorsFile } from '../collate/errors-file.js';
import { createSorter } from '../collate/external-sort.js';
import { createOutput } from '../collate/output-file.js';
import type { OutputNames } from '../collate/output-names.js';
import type { OutputPlan, RenderedAnswer, Renderer } from '../collate/output-plan.js';
import { rankOf } from '../collate/rank.js';
import { assertAccounts } from '../collate/reconcile.js';
import { withReleasers } from '../lifecycle.js';
import { emptyCounts, type OutcomeStatus, parseIdentifierText, type StatusCounts } from '../model.js';
import type { Answers } from './answers.js';
import type { SpooledRow } from './row-spool.js';
import type { Survey } from './survey.js';

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
    const unasked = createUnaskedCache(renderer);
    let rows = 0;
    for (const batch of survey.rows.rows()) {
      for (const row of batch) {
        const { line, status, rank } = joinRow(row, renderer, answers, unasked);
        counts[status] += 1;
        if (isSorted) {
          const pause = sorter.add(rank.group, rank.score, row.number, line);
          if (pause) await pause;
        } else await output.write(line);
        if (!isInErrorsFile(status)) continue;
        if (row.kind === 'unreadable') await errors.unreadable(row.raw, row.reason);
        else await errors.row(row.raw, errorView(row, status, request));
      }
      rows += batch.length;
      request.onRows(rows);
    }
    if (isSorted) for await (const chunk of sorter.merged()) await output.write(chunk);
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

interface Joined {
  readonly line: string;
  readonly status: OutcomeStatus;
  readonly rank: { readonly group: number; readonly score: number };
}

const INVALID_RANK = rankOf('invalid', null);
const SKIPPED_RANK = rankOf('skipped', null);

function joinRow(
  row: SpooledRow,
  renderer: Renderer,
  answers: Answers,
  unasked: (status: 'invalid' | 'skipped', reason: string) => RenderedAnswer,
): Joined {
  switch (row.kind) {
    case 'unreadable':
      return { line: renderer.unreadable(row.raw, row.reason), status: 'invalid', rank: INVALID_RANK };
    case 'invalid':
      return {
        line: renderer.row(row.raw, unasked('invalid', row.reason), null),
        status: 'invalid',
        rank: INVALID_RANK,
      };
    case 'skipped':
      return {
        line: renderer.row(row.raw, unasked('skipped', row.reason), null),
        status: 'skipped',
        rank: SKIPPED_RANK,
      };
    case 'asked': {
      const index = usedCandidate(row, answers);
      const first = answers.firstRow(index, row.number);
      return {
        line: renderer.row(row.raw, answers.rendered(index), first === row.number ? null : first),
        status: answers.status(index) ?? 'deferred',
        rank: answers.rank(index),
      };
    }
  }
}

/** The first candidate that came to anything but `not_found`; when none did, the first. */
function usedCandidate(row: SpooledRow, answers: Answers): number {
  const first = row.candidates[0] ?? 0;
  if (row.candidates.length === 1) return first;
  for (const candidate of row.candidates) {
    const status = answers.status(candidate);
    if (status !== null && status !== 'not_found') return candidate;
  }
  return first;
}

function errorView(row: SpooledRow, status: OutcomeStatus, request: WriteRequest) {
  const { answers, identifiers } = request.survey;
  const index = row.kind === 'asked' ? usedCandidate(row, answers) : null;
  return {
    status,
    identifier: index === null ? null : parseIdentifierText(identifiers.at(index)),
    profile: null,
    source: null,
    fetchedAt: null,
    error: index === null ? row.reason : (request.reasons.get(index) ?? null),
  };
}

/** Rows that nobody was asked for share their reasons. */
function createUnaskedCache(
  renderer: Renderer,
): (status: 'invalid' | 'skipped', reason: string) => RenderedAnswer {
  const known = new Map<string, RenderedAnswer>();
  return (status, reason) => {
    const name = `${status} ${reason}`;
    let rendered = known.get(name);
    if (!rendered) {
      rendered = renderer.answer({
        status,
        identifier: null,
        profile: null,
        source: null,
        fetchedAt: null,
        error: reason,
      });
      if (known.size < 10_000) known.set(name, rendered);
    }
    return rendered;
  };
}
