import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FailFileError } from '../../src/core/errors.js';
import { lockUsage } from '../../src/local-service/usage-lock.js';
import { temporaryFolder } from './temporary-folder.js';

it('an accounts file has one meter at a time, by whatever path it is named', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'accounts.json');
  const alias = join(folder, 'alias.json');
  writeFileSync(path, '{}');
  symlinkSync(path, alias);

  const release = await lockUsage(path);
  await expect(lockUsage(path)).rejects.toThrow(FailFileError);
  await expect(lockUsage(alias)).rejects.toThrow(alias);
  await release();
  await (await lockUsage(alias))();
});

it('two accounts files are independent', async () => {
  const paths = ['a.json', 'b.json'].map((name) => join(temporaryFolder(), name));
  for (const path of paths) writeFileSync(path, '{}');
  const releases = await Promise.all(paths.map((path) => lockUsage(path)));
  for (const release of releases) await release();
});
