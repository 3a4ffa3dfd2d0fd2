import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOurColumns } from '../../../src/identify/choose-columns.js';
import { createErrorsFile } from '../../../src/run/output/write-output.js';
import { CSV_SHAPE, DEFERRED, INVALID, JSON_SHAPE, MATCHED, planFor } from './plans.js';

let folder: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'collate-errors-'));
  target = join(folder, 'a.errors.csv');
});
afterEach(() => rm(folder, { recursive: true }));

const PLAIN = { gzip: false, bom: false };
const FAILED = { ...DEFERRED, status: 'failed', error: 'answered 503 four times' } as const;

describe('the errors file', () => {
  it('contains failed, invalid and deferred rows with their reason, and loads as input', async () => {
    const file = await createErrorsFile(target, planFor({ hasUnreadable: true, fields: ['name'] }), PLAIN);
    await file.row('1,"a ""b"""', FAILED);
    await file.row('2,acme.example', MATCHED);
    await file.row('3,localhost', INVALID);
    await file.unreadable('4,"x', 'an unclosed quote');
    await file.row('5,y', DEFERRED);
    expect(file.count).toBe(4);
    await file.commit();
    const text = await readFile(target, 'utf8');
    expect(text).toBe(
      [
        'id,website,brand_status,brand_identifier,brand_fetched_at,brand_error,brand_raw',
        '1,"a ""b""",failed,US0378331005,,answered 503 four times,',
        '3,localhost,invalid,,,"""localhost"" is not a domain",',
        ',,invalid,,,an unclosed quote,"4,""x"',
        '5,y,deferred,US0378331005,,"the limit is reached, run again to go on",',
        '',
      ].join('\n'),
    );
    const columns = text.slice(0, text.indexOf('\n')).split(',');
    expect(findOurColumns(columns, 'brand_')).toEqual([2, 3, 4, 5, 6]);
  });

  it('is JSON lines where the output is', async () => {
    const file = await createErrorsFile(target, planFor({ input: JSON_SHAPE }), PLAIN);
    await file.row('{"id":1}', DEFERRED);
    await file.commit();
    expect(JSON.parse(await readFile(target, 'utf8'))).toMatchObject({
      id: 1,
      brand: { status: 'deferred' },
    });
  });

  it('has no header where the input has none', async () => {
    const input = { ...CSV_SHAPE, rawHeader: null };
    const file = await createErrorsFile(target, planFor({ input }), PLAIN);
    await file.row('1,x', FAILED);
    await file.commit();
    expect(await readFile(target, 'utf8')).toBe('1,x,failed,US0378331005,,answered 503 four times\n');
  });

  it('does not exist when no row belongs in it, and that of an earlier run is removed', async () => {
    await writeFile(target, 'old');
    const file = await createErrorsFile(target, planFor(), PLAIN);
    await file.row('2,acme.example', MATCHED);
    expect(await readFile(target, 'utf8')).toBe('old');
    await file.commit();
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves a pipe or a device where it is when no row belongs in it', async () => {
    execFileSync('mkfifo', [target]);
    const reader = await open(target, constants.O_RDONLY | constants.O_NONBLOCK);
    const file = await createErrorsFile(target, planFor(), PLAIN);
    await file.commit();
    await reader.close();
    expect(await readdir(folder)).toEqual(['a.errors.csv']);
  });

  it('keeps that of an earlier run when it is discarded', async () => {
    await writeFile(target, 'old');
    const file = await createErrorsFile(target, planFor(), PLAIN);
    await file.row('1,x', FAILED);
    await file.discard();
    expect(await readdir(folder)).toEqual(['a.errors.csv']);
    expect(await readFile(target, 'utf8')).toBe('old');
  });
});
