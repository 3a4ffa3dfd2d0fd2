/**
 * The errors file: the rows that failed, are invalid or were deferred, as they stood, each with its reason. It loads
 * as input, so that repairing it and running it is all there is to do. In input order; when there are no such rows, there is
 * no such file.
 */
import { rm } from 'node:fs/promises';
import type { OutcomeStatus } from '../../core/outcome.js';
import { createOutput, type Output } from './output-file.js';
import type { AnswerView, OutputPlan } from './output-plan.js';
import { createRenderer } from './render.js';
import { writeFailure } from './write-failure.js';

const IN_ERRORS_FILE: readonly OutcomeStatus[] = ['failed', 'invalid', 'deferred'];

/** Whether rows of this status stand in the errors file. */
export function isInErrorsFile(status: OutcomeStatus): boolean {
  return IN_ERRORS_FILE.includes(status);
}

export interface ErrorsFile {
  /** Rows added so far. */
  readonly count: number;
  /** Adds a row; one whose status does not belong here is passed over. */
  row(raw: string, view: AnswerView): Promise<void>;
  /** Adds a row that could not be read. */
  unreadable(raw: string, reason: string): Promise<void>;
  /** Puts the file under its name; without rows it removes the one of an earlier run instead. */
  commit(): Promise<void>;
  /** Forgets it; an earlier one stays. */
  discard(): Promise<void>;
}

/**
 * Opens the errors file. Its columns are the user's, `brand_status`, `brand_identifier`, `brand_fetched_at`,
 * `brand_error` and, for rows that could not be read, `brand_raw`; JSON lines carry the same object as the output.
 * @param plan the output's plan.
 * @throws FailFileError `output-unwritable`.
 */
export async function createErrorsFile(
  target: string,
  plan: OutputPlan,
  options: { readonly gzip: boolean; readonly bom: boolean },
): Promise<ErrorsFile> {
  const renderer = createRenderer({ ...plan, fields: [] });
  const output: Output = await createOutput(target, { ...options, stdout: null });
  let count = 0;

  async function add(line: string): Promise<void> {
    const header = count++ === 0 ? renderer.header() : null;
    await output.write(header === null ? line : header + line);
  }

  return {
    get count() {
      return count;
    },
    async row(raw, view) {
      if (isInErrorsFile(view.status)) await add(renderer.row(raw, renderer.answer(view), null));
    },
    unreadable: (raw, reason) => add(renderer.unreadable(raw, reason)),
    async commit() {
      if (count > 0) return output.commit();
      await output.discard();
      await rm(target, { force: true }).catch((error: unknown) => {
        throw writeFailure(target, error);
      });
    },
    discard: () => output.discard(),
  };
}
