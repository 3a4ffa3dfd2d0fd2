import { execFileSync, spawnSync } from 'node:child_process';
import { lchown, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { PLAIN_BYTES_AT_MOST, readPlainFile, readPlainFileSync } from '../../src/core/plain-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await temporaryFolder();
  await writeFile(at('file'), 'täxt');
  await writeFile(at('empty'), '');
  await writeFile(at('full'), 'x'.repeat(PLAIN_BYTES_AT_MOST));
  await writeFile(at('large'), '');
  await truncate(at('large'), PLAIN_BYTES_AT_MOST + 1);
  await symlink('file', at('link'));
  await mkdir(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
});

it.each([
  ['file', 'täxt', 'täxt'],
  ['empty', '', ''],
  ['full', 'x'.repeat(PLAIN_BYTES_AT_MOST), 'x'.repeat(PLAIN_BYTES_AT_MOST)],
  ['large', 'it is larger than 1 MB', 'it is larger than 1 MB'],
  ['link', 'it is a symbolic link', 'täxt'],
  ['folder', 'it is a folder', 'it is a folder'],
  ['pipe', 'it is not a regular file', 'it is not a regular file'],
])('%s', async (name, amongOthers, named) => {
  const message = (error: unknown) => (error instanceof Error ? error.message : error);
  expect(await readPlainFile(at(name)).catch(message)).toBe(amongOthers);
  const read = () => {
    try {
      return readPlainFileSync(at(name));
    } catch (error) {
      return message(error);
    }
  };
  expect(read()).toBe(named);
});

it.runIf(process.getuid?.() === 0)('a link of another user is followed only where it was named', async () => {
  await lchown(at('link'), 54_401, 54_401);
  expect(readPlainFileSync(at('link'))).toBe('täxt');
  expect(() => readPlainFileSync(at('link'), { isFound: true })).toThrow('it belongs to another user');
  await lchown(at('link'), 0, 0);
  expect(readPlainFileSync(at('link'), { isFound: true })).toBe('täxt');
});

it('reads a pipe from shell process substitution', () => {
  const module = fileURLToPath(new URL('../../dist/src/core/plain-file.js', import.meta.url));
  const script = `import('${module}').then((m) => console.log(m.readPlainFileSync(process.argv[1])))`;
  const shell = `"$0" -e "$1" <(sleep 0.2; echo a secret)`;
  const { stdout, stderr } = spawnSync('bash', ['-c', shell, process.execPath, script], { encoding: 'utf8' });
  expect(stdout.trim(), stderr).toBe('a secret');
});
