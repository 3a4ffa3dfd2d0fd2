import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Row } from '../../src/core/table.js';
import type { Input, ReadingSettings } from '../../src/input/input.js';
import { type InputOpening, openInput } from '../../src/input/open-input.js';
import { answerPass } from '../../src/input/reader/answer-pass.js';
import type { Pass, Reply } from '../../src/input/reader/replies.js';

export interface Folder {
  readonly path: string;
  write(name: string, content: string | Buffer): Promise<string>;
}

export function folderOfFile(): Folder {
  let path = '';
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'intake-'));
  });
  afterAll(() => rm(path, { recursive: true }));
  return {
    get path() {
      return path;
    },
    async write(name, content) {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
  };
}

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
  changes: Partial<ReadingSettings & InputOpening> = {},
): [ReadingSettings, InputOpening] {
  const {
    spoolFolder = join(folder.path, 'spool'),
    only,
    stop,
    stdin = null,
    readBinary = readHere,
    ...settings
  } = changes;
  return [
    { ...READING, ...settings },
    { spoolFolder, only, stop, stdin, readBinary },
  ];
}

/** Reads a binary file in this process, where its format is the point: a process takes 0.3 s. */
export async function* readHere(descriptor: number, pass: Pass): AsyncGenerator<Reply> {
  for await (const reply of answerPass(pass, descriptor)) yield JSON.parse(JSON.stringify(reply));
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
  changes: Partial<ReadingSettings & InputOpening> & { name?: string } = {},
): Promise<{ input: Input; rows: Row[] }> {
  const { name = 'input.csv', ...options } = changes;
  const input = await openInput(await folder.write(name, content), ...intakeOptions(folder, options));
  try {
    return { input, rows: await readAll(input) };
  } finally {
    await input.close();
  }
}
