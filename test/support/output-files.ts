/** Reads the output of a run with csv-parse, without product code. */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';

export type OutputRow = Readonly<Record<string, string>>;

/** The records of a CSV output, in the order of the file. */
export async function readRows(path: string): Promise<OutputRow[]> {
  return parse<OutputRow>(await readFile(path), { columns: true, bom: true });
}

/** How many rows have each `brand_status`. */
export function countStatuses(rows: readonly OutputRow[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { brand_status: status = '' } of rows) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The parts of a report that tests use. */
export interface ReportFile {
  readonly run: {
    readonly id: string;
    readonly status: string;
    readonly isComplete: boolean;
    readonly exitCode: number;
  };
  readonly reason: string | null;
  readonly rows: Readonly<Record<string, number>>;
  readonly identifiers: Readonly<Record<string, unknown>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly requests: {
    readonly sent: number;
    readonly billed: number;
    readonly unreported: number;
    readonly overage: number;
    readonly overageCost: string;
  };
  readonly accounting: {
    readonly recordsRead: number;
    readonly rowsByStatus: number;
    readonly recordsWritten: number | null;
  };
}

export async function readReport(path: string): Promise<ReportFile> {
  return JSON.parse(await readFile(path, 'utf8')) as ReportFile;
}
