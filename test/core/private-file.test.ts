/**
 * Private files hold rows during processing: nothing of them stays on disk, and leftovers of
 * earlier versions are removed.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPrivateFile, removePrivateLeftovers } from '../../src/core/private-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DEAD = spawnSync(process.execPath, ['-e', '']).pid;

it('is readable by its owner alone, and is unlinked as soon as it is open', async () => {
  const folder = await temporaryFolder();
  const file = await openPrivateFile(folder, 'input');
  await file.handle.appendFile('a row');
  const { mode, nlink } = await file.handle.stat();
  expect(mode & 0o777).toBe(0o600);
  expect(nlink).toBe(0);
  expect(await readdir(folder)).toEqual([]);
  await file.drop();
  await file.drop();
});

it('removes leftovers of dead processes, and nothing of live ones', async () => {
  const folder = await temporaryFolder();
  for (const name of [`${DEAD}-0123abcd`, `plan-${DEAD}-0123abcd`, `${process.ppid}-0123abcd`]) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'rows'), 'rows of a customer');
  }
  for (const pid of [DEAD, process.pid, process.ppid]) {
    await writeFile(join(folder, `rows-${pid}-0123456789ab.spool`), 'rows of a customer');
  }
  await removePrivateLeftovers(folder);
  expect((await readdir(folder)).sort()).toEqual(
    [
      `${process.ppid}-0123abcd`,
      `rows-${process.pid}-0123456789ab.spool`,
      `rows-${process.ppid}-0123456789ab.spool`,
    ].sort(),
  );
});

it("removes an earlier version's folder named by the current process id, since in a container every process has it", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, `${process.pid}-0123abcd`));
  await removePrivateLeftovers(folder);
  expect(await readdir(folder)).toEqual([]);
});

it('leaves links and unrelated files alone', async () => {
  const folder = await temporaryFolder();
  const elsewhere = await temporaryFolder();
  await writeFile(join(elsewhere, 'kept'), 'x');
  await symlink(elsewhere, join(folder, `${DEAD}-0123abcd`));
  await writeFile(join(folder, `${DEAD}-89abcdef`), 'a file, and no folder of a run');
  await mkdir(join(folder, `${DEAD}-notours`));
  await removePrivateLeftovers(folder);
  expect(await readdir(folder)).toHaveLength(3);
  expect(await readdir(elsewhere)).toEqual(['kept']);
  await removePrivateLeftovers(join(folder, 'missing'));
});
