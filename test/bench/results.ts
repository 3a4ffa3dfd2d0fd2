/** Figures on the terminal; tables and plots also in the folder `BENCH_OUT`, or a temporary one. */
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

/** Prints a table in Markdown, and keeps it as `<name>.md`. */
export function keepTable(
  name: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const lines = [head, head.map((_, at) => (at === 0 ? '---' : '---:')), ...rows];
  keepFile(`${name}.md`, `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`, true);
}

/** One diagram: both axes are logarithmic, so that cost in step with work rises at 45 degrees. */
export interface Panel {
  readonly title: string;
  readonly series: ReadonlyMap<string, readonly (readonly [work: number, cost: number])[]>;
}

const COLOURS = ['#0b6bcb', '#c4570a', '#4a7c1f', '#8a3fa0'];
const SIDE = 180;
const MARGIN = 45;
const STEP = SIDE + MARGIN * 1.4;

/** Keeps diagrams as `<name>.svg`, in a row; a dashed line shows cost in step with work. */
export function keepPlot(name: string, panels: readonly Panel[]): void {
  const drawn = panels.map(
    (panel, at) => `<g transform="translate(${MARGIN + at * STEP} 30)">${draw(panel)}</g>`,
  );
  const size = `width="${panels.length * STEP + 20}" height="${SIDE + 75}"`;
  const style = 'style="background:#fff;font:11px sans-serif"';
  const clip = `<clipPath id="clip"><path d="M0 0H${SIDE}V${SIDE}H0z"/></clipPath>`;
  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>`, clip, ...drawn, '</svg>', ''];
  keepFile(`${name}.svg`, parts.join('\n'));
}

function draw({ title, series }: Panel): string {
  const points = [...series.values()].flat();
  const x = logScale(points.map(([work]) => work));
  const y = logScale(points.map(([, cost]) => cost));
  const at = ([work, cost]: readonly [number, number]) => `${round(x.at(work))} ${round(SIDE - y.at(cost))}`;
  const parts = [`<text y="-10" font-weight="bold">${title}</text>`];
  for (const tick of x.ticks)
    parts.push(
      `<path d="M${x.at(tick)} 0V${SIDE}" stroke="#ddd"/>`,
      `<text x="${x.at(tick)}" y="${SIDE + 15}" text-anchor="middle">${short(tick)}</text>`,
    );
  for (const tick of y.ticks)
    parts.push(
      `<path d="M0 ${SIDE - y.at(tick)}H${SIDE}" stroke="#ddd"/>`,
      `<text x="-5" y="${SIDE - y.at(tick) + 4}" text-anchor="end">${short(tick)}</text>`,
    );
  for (const [nth, [name, line]] of [...series].entries()) {
    const colour = COLOURS[nth % COLOURS.length];
    const [first, last] = [line[0], line.at(-1)];
    if (first === undefined || last === undefined) continue;
    const inStep = [last[0], (first[1] * last[0]) / first[0]] as const;
    parts.push(
      `<path d="M${at(first)}L${at(inStep)}" stroke="${colour}" stroke-dasharray="2 4" clip-path="url(#clip)"/>`,
      `<path d="M${line.map(at).join('L')}" stroke="${colour}" stroke-width="2" fill="none"/>`,
      ...line.map((point) => `<circle cx="${at(point).replace(' ', '" cy="')}" r="3" fill="${colour}"/>`),
      `<text x="${nth * 70}" y="${SIDE + 32}" fill="${colour}">${name}</text>`,
    );
  }
  return parts.join('');
}

/** From numbers above 0 to 0 ... SIDE, between whole powers of ten. */
function logScale(numbers: readonly number[]) {
  const from = Math.floor(Math.log10(Math.min(...numbers)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...numbers))));
  return {
    at: (number: number) => ((Math.log10(number) - from) / (to - from)) * SIDE,
    ticks: Array.from({ length: to - from + 1 }, (_, nth) => 10 ** (from + nth)),
  };
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

function short(number: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 }).format(number);
}

function keepFile(name: string, text: string, isShown = false): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, name), text);
  say(`${isShown ? `\n${text}` : ''}kept as ${join(FOLDER, name)}`);
}
