/**
 * Keeps what can be read only once (standard input, a named pipe) in a file that only this user can read. The
 * file has no name any more when this is done: whatever ends the process, nothing is left behind.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FailFileError } from '../errors.js';

/**
 * @param name what is read, for messages
 * @returns the open file, to be closed by the caller
 * Throws `disk-low` when the disk is full, `output-unwritable` when the folder cannot be used, `input-missing`
 * when the stream fails.
 */
export async function spoolStream(
  stream: NodeJS.ReadableStream,
  name: string,
  folder: string,
): Promise<FileHandle> {
  // It may fail before anybody reads; the loop below is told then.
  stream.on('error', () => undefined);
  const path = join(folder, `${randomUUID()}.input`);
  let handle: FileHandle;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    handle = await open(path, 'wx+', 0o600);
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      what: 'the input cannot be kept while it is processed',
      subject: path,
      todo: 'make the folder writable or name another one with --state',
      cause: error,
    });
  }
  try {
    await unlink(path);
    for await (const chunk of stream) {
      await append(handle, Buffer.from(chunk), path);
    }
    return handle;
  } catch (error) {
    await handle.close();
    if (error instanceof FailFileError) throw error;
    throw new FailFileError({
      code: 'input-missing',
      what: 'the input broke off while it was read',
      subject: name,
      todo: 'run again, or save it to a file first',
      cause: error,
    });
  }
}

async function append(handle: FileHandle, bytes: Buffer, path: string): Promise<void> {
  try {
    await handle.appendFile(bytes);
  } catch (error) {
    throw new FailFileError({
      code: 'disk-low',
      what: 'the input cannot be kept while it is processed',
      subject: path,
      todo: 'free disk space or name another folder with --state',
      cause: error,
    });
  }
}
