/**
 * Which files some process of this machine is still writing, as Linux tells it under `/proc`: a copy that stalls for
 * longer than the settling time is not taken for finished. Elsewhere, for processes of other users, and over the
 * network nobody knows: the settling time alone has to do.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import pLimit from 'p-limit';

/** `/proc/<pid>/fdinfo/<fd>` gives the flags of `open` in octal; the lowest two bits say read, write or both. */
const ACCESS_BITS = 0o3;
const AT_ONCE = 16;

/** Those of these absolute paths that are open for writing in another process, as far as can be told. */
export async function openForWriting(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (paths.length === 0) return found;
  const wanted = new Set(paths);
  const processes = (await readdir('/proc').catch(() => [])).filter(
    (name) => /^\d+$/.test(name) && name !== String(process.pid),
  );
  const limit = pLimit(AT_ONCE);
  await Promise.all(
    processes.map((pid) =>
      limit(async () => {
        for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
          const path = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
          if (wanted.has(path) && (await isWriting(pid, fd))) found.add(path);
        }
      }),
    ),
  );
  return found;
}

async function isWriting(pid: string, fd: string): Promise<boolean> {
  const info = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '');
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & ACCESS_BITS) !== 0;
}
