import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { readUsageCounts } from '../../src/local-service/usage-journal.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { tinyDisk } from '../support/tiny-disk.js';
import { createTinyService, USAGE } from './tiny-service.js';

function startOn(files: { usageFile?: string; journalFile?: string }) {
  const messages: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      messages.push(JSON.parse(String(chunk)).msg);
      done();
    },
  });
  const { service, get } = createTinyService({
    terms: { quota: 1_000 },
    log: pino({ base: null }, stream),
    ...files,
  });
  onTestFinished(() => service.close());
  return { service, ask: (path: string) => get(path), messages };
}

it.skipIf(!existsSync('/dev/full'))('requests are counted, and the problem is reported once', async () => {
  const { ask, messages } = startOn({ journalFile: '/dev/full' });
  for (let asked = 1; asked <= 4; asked += 1) {
    const { status, headers } = await ask(`/v2/brands/domain/b${asked}.com`);
    expect([status, headers[USAGE]]).toEqual([404, String(asked)]);
  }
  expect(messages.filter((words) => words.startsWith('usage cannot be recorded'))).toHaveLength(1);
});

it('requests counted without disk space are recorded when there is space again', async ({ skip }) => {
  const folder = await temporaryFolder();
  const disk = tinyDisk(folder);
  if (disk === null) return skip('this user may not mount a file system');
  const usageFile = join(folder, 'usage.jsonl');
  const journalFile = join(folder, 'billed.jsonl');
  const { service, ask, messages } = startOn({ usageFile, journalFile });
  expect((await ask('/v2/brands/domain/first.com')).status).toBe(404);
  disk.fill();
  for (let asked = 0; asked < 200; asked += 1)
    expect((await ask(`/v2/brands/domain/b${asked}.com`)).status).toBe(404);
  expect(readUsageCounts(usageFile)[0]?.requests).toBeLessThan(201);
  disk.free();
  await ask('/v2/brands/domain/last.com');
  expect(readUsageCounts(usageFile)).toMatchObject([{ requests: 202 }]);
  expect(messages.map((words) => words.split(':')[0])).toEqual(
    expect.arrayContaining(['usage cannot be recorded', 'usage is recorded again']),
  );
  await service.close();
  const lines = readFileSync(journalFile, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).identifier)).toHaveLength(202);
});

it('a named pipe as journal is refused, since it would block until a process reads it', async () => {
  const journalFile = join(await temporaryFolder(), 'pipe');
  spawnSync('mkfifo', [journalFile]);
  expect(() => startOn({ journalFile })).toThrow('the journal cannot be written');
});
