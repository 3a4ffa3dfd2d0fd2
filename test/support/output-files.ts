/** Reads the output of a run with csv-parse, without product code. */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Document } from '../../src/run/documents.js';

export type OutputRow = Readonly<Record<string, string>>;

export async function readRows(path: string): Promise<OutputRow[]> {
  return parse<OutputRow>(await readFile(path), { columns: true, bom: true });
}

/** How many rows have each `brand_status`. */
export function countStatuses(rows: readonly OutputRow[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { brand_status: status = '' } of rows) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export async function readReport(path: string): Promise<Document<'report'>> {
  return JSON.parse(await readFile(path, 'utf8'));
}
