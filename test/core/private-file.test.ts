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

it('removes files of dead processes, and nothing of live ones', async () => {
  const folder = await temporaryFolder();
  for (const pid of [DEAD, process.pid, process.ppid]) {
    await writeFile(join(folder, `rows-${pid}-0123456789ab.spool`), 'rows of a customer');
  }
  await removePrivateLeftovers(folder);
  expect((await readdir(folder)).sort()).toEqual(
    [`rows-${process.pid}-0123456789ab.spool`, `rows-${process.ppid}-0123456789ab.spool`].sort(),
  );
});

it('leaves links, folders and unrelated files alone', async () => {
  const folder = await temporaryFolder();
  const elsewhere = await temporaryFolder();
  await writeFile(join(elsewhere, 'kept'), 'x');
  await symlink(join(elsewhere, 'kept'), join(folder, `rows-${DEAD}-0123456789ab.spool`));
  await writeFile(join(folder, `${DEAD}-89abcdef`), 'a file of another program');
  await mkdir(join(folder, `rows-${DEAD}-0123456789ac.spool`));
  await removePrivateLeftovers(folder);
  expect(await readdir(folder)).toHaveLength(3);
  expect(await readdir(elsewhere)).toEqual(['kept']);
  await removePrivateLeftovers(join(folder, 'missing'));
});
