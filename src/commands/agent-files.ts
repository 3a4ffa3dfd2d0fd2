/** The files of agents: below one folder, not through links, and never replaced. */
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ConfigError, RunError } from '../core/errors.js';
import { systemWords } from '../core/system-error.js';

export type AgentFiles = Awaited<ReturnType<typeof openAgentFiles>>;

/** Opens the folder of an agent's files. Throws `RunError` if it does not exist. */
export async function openAgentFiles(root: string) {
  const folder = await realpath(resolve(root)).catch((error) => {
    const todo = 'name an existing folder with --root';
    throw new RunError({ code: 'input-missing', subject: `${root} (${systemWords(error)})`, todo });
  });

  /** Returns the absolute path, and what is there. Throws for links, and outside the folder. */
  async function look(path: string): Promise<{ readonly whole: string; readonly kind: string | null }> {
    const whole = resolve(folder, path);
    const below = relative(folder, whole);
    if (below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below))
      throw refused(path, `name a file below ${folder}`);
    let at = folder;
    let kind: string | null = 'folder';
    for (const part of below.split(sep)) {
      at = join(at, part);
      const facts = await lstat(at).catch(() => null);
      if (facts === null) return { whole, kind: null };
      kind = facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : null;
      if (kind === null) throw refused(path, 'name a regular file: no link, and no device');
    }
    return { whole, kind };
  }

  return {
    async existingFile(path: string): Promise<string> {
      const { whole, kind } = await look(path);
      if (kind === 'file') return whole;
      const todo = `name a file below ${folder}`;
      const what = kind === 'folder' ? 'this is a folder' : undefined;
      throw new RunError({ code: 'input-missing', subject: path, todo, ...(what && { what }) });
    },
    pathOf: async (path: string): Promise<string> => (await look(path)).whole,
    /** Throws if one of the files exists. */
    async assertNew(paths: readonly string[]): Promise<void> {
      for (const path of paths) {
        if ((await look(path)).kind === null) continue;
        throw refused(path, 'name another output', 'this file exists, and agents may not replace files');
      }
    },
  };
}

function refused(subject: string, todo: string, what = 'agents may not use this path'): ConfigError {
  return new ConfigError({ code: 'usage-invalid', what, subject, todo });
}
