/** The files that an agent may name: below one folder, through no link, and none that is there. */
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ConfigError, RunError } from '../core/errors.js';
import { systemWords } from '../core/system-error.js';

export type AgentFiles = Awaited<ReturnType<typeof openAgentFiles>>;

/** Throws `RunError` where `root` is not a folder. */
export async function openAgentFiles(root: string) {
  const folder = await realpath(resolve(root)).catch((error) => {
    const todo = 'name a folder that is there with --root';
    throw new RunError({ code: 'input-missing', subject: `${root} (${systemWords(error)})`, todo });
  });

  /** What is there: `file`, `folder` or nothing. Throws for links and for what is outside. */
  async function look(path: string): Promise<{ readonly whole: string; readonly kind: string | null }> {
    const whole = resolve(folder, path);
    const below = relative(folder, whole);
    if (below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below))
      throw outside(path, `name a file below ${folder}`);
    let at = folder;
    let kind: string | null = 'folder';
    for (const part of below.split(sep)) {
      at = join(at, part);
      const facts = await lstat(at).catch(() => null);
      if (facts === null) return { whole, kind: null };
      kind = facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : null;
      if (kind === null) throw outside(path, 'links and devices are not followed: name a regular file');
    }
    return { whole, kind };
  }

  return {
    async readable(path: string): Promise<string> {
      const { whole, kind } = await look(path);
      if (kind === 'file') return whole;
      const todo = `name a file below ${folder}`;
      const what = kind === 'folder' ? 'this is a folder' : undefined;
      throw new RunError({ code: 'input-missing', subject: path, todo, ...(what && { what }) });
    },
    place: async (path: string): Promise<string> => (await look(path)).whole,
    /** Throws where one of these is there already. */
    async assertNew(paths: readonly string[]): Promise<void> {
      for (const path of paths) {
        if ((await look(path)).kind === null) continue;
        throw outside(path, 'an agent replaces no file: give another output', 'this file is there already');
      }
    },
  };
}

function outside(subject: string, todo: string, what = 'an agent may not use this path'): ConfigError {
  return new ConfigError({ code: 'usage-invalid', what, subject, todo });
}
