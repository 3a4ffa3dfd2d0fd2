import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { InterruptedError, RunError } from '../../../src/core/errors.js';
import { createOutput, temporaryName } from '../../../src/run/output/output-file.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const PLAIN = { gzip: false, bom: false, stdout: null };

let folder: string;
let target: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  target = join(folder, 'out.csv');
});

/** Writes these pieces as one output, and commits it. */
async function writeAll(path: string, options: Parameters<typeof createOutput>[1], ...pieces: string[]) {
  const output = await createOutput(path, options);
  for (const piece of pieces) await output.write(piece);
  await output.commit();
}

function collector(): { stream: Writable; bytes: () => Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      chunks.push(chunk);
      setImmediate(callback);
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}

describe('an output', () => {
  it('does not exist under its name before commit, and is complete after', async () => {
    await writeFile(target, 'old');
    const output = await createOutput(target, PLAIN);
    await output.write('header\n');
    await output.write(Buffer.from('a é\n'));
    await output.write('x'.repeat(300_000));
    expect(await readFile(target, 'utf8')).toBe('old');
    await output.commit();
    expect(await readFile(target, 'utf8')).toBe(`header\na é\n${'x'.repeat(300_000)}`);
    expect(await readdir(folder)).toEqual(['out.csv']);
    await output.discard();
    expect(await readdir(folder)).toEqual(['out.csv']);
  });

  it.each([false, true])('keeps the older file when it is discarded (gzip: %s)', async (gzip) => {
    await writeFile(target, 'old');
    const output = await createOutput(target, { ...PLAIN, gzip });
    await output.write('x'.repeat(300_000));
    expect(await readdir(folder)).toHaveLength(2);
    await output.discard();
    await output.discard();
    expect(await readFile(target, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['out.csv']);
  });

  it('keeps the older file when verification of the finished file fails', async () => {
    await writeFile(target, 'old');
    const output = await createOutput(target, PLAIN);
    await output.write('complete');
    const seen: string[] = [];
    const verify = async (path: string) => {
      seen.push(await readFile(path, 'utf8'));
      throw new RunError({ code: 'output-miscounted', subject: 'x', todo: 'y' });
    };
    await expect(output.commit(verify)).rejects.toMatchObject({ code: 'output-miscounted' });
    expect(seen).toEqual(['complete']);
    expect(await readFile(target, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['out.csv']);
  });

  it('reports a failed rename, and leaves nothing beside it', async () => {
    const output = await createOutput(target, PLAIN);
    await output.write('a');
    await mkdir(target);
    await expect(output.commit()).rejects.toMatchObject({ code: 'output-unwritable' });
    expect(await readdir(folder)).toEqual(['out.csv']);
    expect((await stat(target)).isDirectory()).toBe(true);
  });

  it('removes leftovers of killed processes for any target, and nothing of live ones', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    const left = temporaryName('out.csv').replace(`-${process.pid}-`, `-${dead}-`);
    const live = temporaryName('out.csv');
    const other = temporaryName('other.csv').replace(`-${process.pid}-`, `-${dead}-`);
    const parents = live.replace(`-${process.pid}-`, `-${process.ppid}-`);
    // Of another host or container.
    const elsewhere = left.replace(/(?<=^\.brand-enrich-[0-9a-f]{12}-)[0-9a-f]{12}/, '0123456789ab');
    // In a container the killed process may have had our process id.
    const namesake = live.replace(/[0-9a-f]{8}\.tmp$/, '0123abcd.tmp');
    for (const name of [left, live, other, parents, elsewhere, namesake])
      await writeFile(join(folder, name), 'half');
    await writeAll(target, PLAIN);
    expect((await readdir(folder)).sort()).toEqual([live, parents, elsewhere, 'out.csv'].sort());
  });

  it.each([false, true])('starts with a byte order mark if requested (%s)', async (bom) => {
    await writeAll(target, { ...PLAIN, bom }, 'a');
    expect((await readFile(target)).toString('hex')).toBe(bom ? 'efbbbf61' : '61');
  });

  it('is gzip-compressed if requested', async () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `${i},row\n`);
    await writeAll(target, { ...PLAIN, gzip: true }, ...lines);
    expect(gunzipSync(await readFile(target)).toString()).toBe(lines.join(''));
  });

  it('keeps permissions and symbolic links', async () => {
    const link = join(folder, 'link.csv');
    await writeFile(target, 'old');
    await chmod(target, 0o640);
    await symlink(target, link);
    await writeAll(link, PLAIN, 'new');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await stat(target)).mode & 0o777).toBe(0o640);
    expect(await readFile(target, 'utf8')).toBe('new');
  });

  it.each([false, true])('goes to the given stream for "-", which stays open (gzip: %s)', async (gzip) => {
    const { stream, bytes } = collector();
    await writeAll('-', { gzip, bom: true, stdout: stream }, 'x'.repeat(200_000), 'end');
    expect((gzip ? gunzipSync(bytes()) : bytes()).toString()).toBe(`\ufeff${'x'.repeat(200_000)}end`);
    expect(stream.writable).toBe(true);
  });

  it('writes a device directly', async () => {
    await writeAll('/dev/null', PLAIN, 'x');
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('waits for the reader of a named pipe, and says so', async () => {
    spawnSync('mkfifo', [target]);
    let opening: ReturnType<typeof createOutput> | undefined;
    const said = new Promise<object>((emit) => {
      const waiting = { stop: new AbortController().signal, emit };
      opening = createOutput(target, { ...PLAIN, waiting });
    });
    expect(await said).toMatchObject({ isWarning: true, text: expect.stringContaining(target) });
    const text = readFile(target, 'utf8');
    const output = await opening;
    await output?.write('x'.repeat(300_000));
    await output?.commit();
    expect(await text).toBe('x'.repeat(300_000));
    expect((await stat(target)).isFIFO()).toBe(true);
  });

  it('is stopped while nobody reads from a named pipe', async () => {
    spawnSync('mkfifo', [target]);
    const stopping = new AbortController();
    const waiting = { stop: stopping.signal, emit: () => stopping.abort() };
    await expect(createOutput(target, { ...PLAIN, waiting })).rejects.toThrow(InterruptedError);
  });

  it.each([
    ['a missing folder', () => join(folder, 'missing', 'out.csv'), 'does not exist'],
    ['a folder as its target', () => join(folder, 'sub'), 'is a folder'],
  ])('names the remedy for %s', async (_name, path, words) => {
    await mkdir(join(folder, 'sub'));
    const opened = createOutput(path(), PLAIN);
    await expect(opened).rejects.toThrow(RunError);
    await expect(opened).rejects.toThrow(words);
  });

  it.each([false, true])('fails when its reader closes the pipe (compressed: %s)', async (gzip) => {
    const stream = new Writable({
      write(_chunk, _encoding, callback) {
        callback(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    const output = await createOutput('-', { gzip, bom: false, stdout: stream });
    const written = (async () => {
      for (let i = 0; i < 100; i++) await output.write(randomBytes(100_000));
    })();
    await expect(written).rejects.toMatchObject({ code: 'output-unwritable' });
    await expect(written).rejects.toThrow('stopped reading');
    await output.discard();
  });
});
