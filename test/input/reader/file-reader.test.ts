/** The process that reads binary files: what it gets, what ends it, and what follows from that. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../../../src/core/lifecycle.js';
import { openInput } from '../../../src/input/open-input.js';
import { FileReader } from '../../../src/input/reader/file-reader.js';
import { readInProcess } from '../../../src/input/reader/reading-process.js';
import { cell, row } from '../../support/hostile-files.js';
import { commandOf, readersOf } from '../../support/reading-processes.js';
import { OFFICE, workbookOf } from '../../support/workbooks.js';
import { folderOfFile, intakeOptions, READING } from '../reading.js';

const ROWS = 10_000;
const folder = folderOfFile();
let book = '';
beforeAll(async () => {
  const rows = Array.from({ length: ROWS }, (_, at) => row(cell(`c${at}.com`), cell('x'.repeat(100))));
  book = await folder.write('b.xlsx', await workbookOf(row(cell('website'), cell('note')) + rows.join('')));
});

async function openReader(path: string, limits?: Parameters<typeof readInProcess>[3], stop?: AbortSignal) {
  const handle = await open(path, 'r');
  const reader = new FileReader({ name: path, descriptor: handle.fd }, stop, (fd, pass, end) =>
    readInProcess(fd, pass, end, limits),
  );
  const close = async () => {
    reader.close();
    await handle.close();
  };
  return { reader, close };
}

const LIMITS = { heapMib: 512, memory: 2 ** 30, cpuMs: 60_000 };
const OPENING = { header: true, skipLines: 0, sheet: null };

describe.skipIf(process.platform !== 'linux')('the reading process', () => {
  it('has limits, and nothing of this process but the file', async () => {
    const { reader, close } = await openReader(book);
    await reader.open(OPENING);
    await reader.rows(null, null).next();
    const [pid = 0, ...others] = readersOf('self');
    expect(others).toEqual([]);
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).toBe('ELECTRON_RUN_AS_NODE=1\0');
    expect(commandOf(pid)).toContain('--max-old-space-size=512');
    await close();
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it.each([1, 2])('that is killed %i times', async (kills) => {
    const input = await openInput(book, ...intakeOptions(folder, { readBinary: readInProcess }));
    const numbers: number[] = [];
    const killed = new Set<number>();
    const reading = (async () => {
      for await (const batch of input.rows()) {
        numbers.push(...batch.map(({ number }) => number));
        const [pid] = readersOf('self');
        // One that was killed may be there for another moment.
        if (killed.size === kills || pid === undefined || killed.has(pid)) continue;
        killed.add(pid);
        process.kill(pid, 'SIGKILL');
      }
    })();
    if (kills === 1) {
      await reading;
      expect(numbers).toEqual(Array.from({ length: ROWS }, (_, at) => at + 1));
    } else
      await expect(reading).rejects.toMatchObject({
        code: 'input-binary',
        what: expect.stringMatching('too large or too complex'),
      });
    await input.close();
    expect(killed.size).toBe(kills);
  });

  it('ends after each pass, and starts for the next one', async () => {
    const input = await openInput(book, ...intakeOptions(folder, { readBinary: readInProcess }));
    for (let pass = 0; pass < 2; pass += 1) {
      let rows = 0;
      for await (const batch of input.rows()) rows += batch.length;
      expect(rows).toBe(ROWS);
      await expect.poll(() => readersOf('self')).toEqual([]);
    }
    await input.close();
  });

  it('ends with the program that started it, however that ends', { tags: ['long'] }, async () => {
    const module = fileURLToPath(new URL('../../../dist/src/input/open-input.js', import.meta.url));
    const script = `import { openInput } from ${JSON.stringify(module)};
      const input = await openInput(${JSON.stringify(book)}, ${JSON.stringify(READING)}, { spoolFolder: '/nowhere' });
      await input.rows().next();
      console.log('open'); setInterval(() => undefined, 1000);`;
    const program = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise((resolve) => program.stdout.once('data', resolve));
    const [pid = 0] = readersOf(program.pid ?? 0);
    expect(pid).toBeGreaterThan(0);
    program.kill('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

describe('a file that takes too much', () => {
  it('fails after too much time without a row', async () => {
    const path = await folder.write(
      'empty.xlsx',
      await workbookOf(`${row(cell('website'))}${'<x/>'.repeat(4_000_000)}`),
    );
    const { reader, close } = await openReader(path, { ...LIMITS, cpuMs: 20 });
    await expect(reader.open(OPENING)).rejects.toThrow('no further row was found in 0.02 s of computing');
    await close();
  });

  // However fast it is read: the first reply is not taken before a look at the process.
  it.skipIf(process.platform === 'win32')('memory fails, at the second try', async () => {
    const small = await folder.write('small.xlsx', await workbookOf(row(cell('website'))));
    const { reader, close } = await openReader(small, { ...LIMITS, memory: 2 ** 20 });
    await expect(reader.open(OPENING)).rejects.toThrow(/too large or too complex.*more than 1 MiB of memory/);
    await close();
  });

  it('fails with too many objects on the heap, at the second attempt', { tags: ['long'] }, async () => {
    const sheets = '<sheet name="The same name" sheetId="1" r:id="r0"/>'.repeat(600_000);
    const parts = {
      'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}"><sheets>${sheets}</sheets></workbook>`,
    };
    const path = await folder.write('sheets.xlsx', await workbookOf(row(cell('website')), parts));
    const { reader, close } = await openReader(path, { ...LIMITS, heapMib: 40 });
    await expect(reader.open(OPENING)).rejects.toThrow(/too large or too complex.*more than 40 MiB/);
    await close();
  });

  it('is abandoned when the run is stopped', async () => {
    const stop = new AbortController();
    const { reader, close } = await openReader(book, undefined, stop.signal);
    const opening = reader.open(OPENING);
    stop.abort();
    await expect(opening).rejects.toMatchObject({ code: 'interrupted' });
    await close();
  });
});
