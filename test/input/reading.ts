/** Temporary files and complete reads for the intake tests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Row } from '../../src/core/table.js';
import type { OpeningOptions } from '../../src/input/byte-source.js';
import type { Input, ReadingSettings } from '../../src/input/input.js';
import { openInput } from '../../src/input/open-input.js';

export interface Folder {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, content: string | Buffer): Promise<string>;
  remove(): Promise<void>;
}

export async function createFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'intake-'));
  return {
    path,
    async write(name, content) {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
    remove: () => rm(path, { recursive: true }),
  };
}

/** The defaults. */
export const READING: ReadingSettings = {
  delimiter: null,
  encoding: null,
  header: true,
  limit: null,
  ragged: null,
  records: null,
  sheet: null,
  skipLines: 0,
};

export function intakeOptions(
  folder: Folder,
  changes: Partial<ReadingSettings & OpeningOptions> = {},
): [ReadingSettings, OpeningOptions] {
  const { spoolFolder = join(folder.path, 'spool'), only, stop, stdin = null, ...settings } = changes;
  return [
    { ...READING, ...settings },
    { spoolFolder, only, stop, stdin },
  ];
}

export async function readAll(input: Input): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of input.rows()) rows.push(...batch);
  return rows;
}

/** Opens a file of this content, reads it completely and closes it. */
export async function readContent(
  folder: Folder,
  content: string | Buffer,
  changes: Partial<ReadingSettings & OpeningOptions> & { name?: string } = {},
): Promise<{ input: Input; rows: Row[] }> {
  const { name = 'input.csv', ...options } = changes;
  const input = await openInput(await folder.write(name, content), ...intakeOptions(folder, options));
  try {
    return { input, rows: await readAll(input) };
  } finally {
    await input.close();
  }
}
