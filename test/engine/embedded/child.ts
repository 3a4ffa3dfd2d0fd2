/** A process against the built package, for what can only be seen from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child {
  readonly process: ChildProcess;
  /** The next line that it prints. */
  nextLine(): Promise<string>;
  /** Everything that it has printed and that was not read yet. */
  takenLines(): string[];
  kill(signal: NodeJS.Signals): Promise<void>;
}

const DIST = new URL('../../../dist/', import.meta.url).href;

/** `script` is an ES module: `load(path)` imports from `dist/`, `say(text)` prints a line. */
export function startChild(script: string): Child {
  const preamble = `
    import { writeSync } from 'node:fs';
    const load = (path) => import(${JSON.stringify(DIST)} + path);
    const say = (text) => writeSync(1, text + '\\n');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', preamble + script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
  });
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const waiter = waiting.shift();
    if (waiter) waiter(line);
    else lines.push(line);
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const gone = once(child, 'close');
  return {
    process: child,
    nextLine() {
      const line = lines.shift();
      if (line !== undefined) return Promise.resolve(line);
      return Promise.race([
        new Promise<string>((resolve) => waiting.push(resolve)),
        gone.then(() => {
          throw new Error(`the child ended: ${complaint}`);
        }),
      ]);
    },
    takenLines: () => lines.splice(0),
    async kill(signal) {
      child.kill(signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await gone;
    },
  };
}

/** The same with `open()` in the script, which opens the embedded engine of this folder. */
export function startClient(folder: string, script: string): Child {
  return startChild(`
    const { openEmbeddedEngine } = await load('src/engine/embedded/shared-server.js');
    const { silentLog } = await load('src/core/log.js');
    const open = () => openEmbeddedEngine({ folder: ${JSON.stringify(folder)}, log: silentLog() });
    ${script}
  `);
}
