/**
 * Keeps what can be read only once (standard input, a named pipe) in a private file.
 */
import { type FileHandle, mkdir } from 'node:fs/promises';
import { FailFileError } from '../core/errors.js';
import { openPrivateFile, type PrivateFile } from '../core/private-file.js';

/**
 * @param name what is read, for messages
 * @returns the open file, to be dropped by the caller
 * Throws `disk-low` when the disk is full, `output-unwritable` when the folder cannot be used, `input-missing`
 * when reading fails.
 */
export async function spoolStream(
  chunks: AsyncIterable<Buffer | string>,
  name: string,
  folder: string,
): Promise<PrivateFile> {
  let file: PrivateFile;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    file = await openPrivateFile(folder, 'input');
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      what: 'the input cannot be kept while it is processed',
      subject: folder,
      todo: 'make the folder writable or name another one with --state',
      cause: error,
    });
  }
  try {
    for await (const chunk of chunks) {
      await append(file.handle, Buffer.from(chunk), folder);
    }
    return file;
  } catch (error) {
    await file.drop();
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

async function append(handle: FileHandle, bytes: Buffer, folder: string): Promise<void> {
  try {
    await handle.appendFile(bytes);
  } catch (error) {
    throw new FailFileError({
      code: 'disk-low',
      what: 'the input cannot be kept while it is processed',
      subject: folder,
      todo: 'free disk space or name another folder with --state',
      cause: error,
    });
  }
}
