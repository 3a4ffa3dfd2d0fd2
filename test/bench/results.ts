/** Figures on the terminal; tables also in the folder `BENCH_OUT`, or a temporary one. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The parent runs all files of benchmarks: one folder for all of them. */
const FOLDER = process.env.BENCH_OUT ?? join(tmpdir(), `brand-enrich-figures-${process.ppid}`);

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Prints a figure, and beside it what it must be. */
export function sayFigure(figure: string, value: string, goal = ''): void {
  say(`${figure.padEnd(44)} ${value.padEnd(26)} ${goal && `goal: ${goal}`}`.trimEnd());
}

export function keepTable(
  name: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const lines = [head, head.map((_, at) => (at === 0 ? '---' : '---:')), ...rows];
  const text = `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${name}.md`), text);
  say(`\n${text}kept as ${join(FOLDER, name)}.md`);
}
