/** A command on a terminal, recorded as an SVG that plays. Needs `script` (util-linux). */
import { spawn } from 'node:child_process';

const COLUMNS = 96;
const FONT = 13;
const CHAR = 7.82;
const LINE = 19;
/** The last screen stays for so long. */
const REST_S = 8;
/** The colours of the sequences that the command line writes. */
const COLORS: Readonly<Record<string, string>> = {
  '2': '#7d8590',
  '31': '#ff7b72',
  '32': '#56d364',
  '33': '#e3b341',
  '36': '#39c5cf',
};

const ESCAPE = '\u001b';

interface Span {
  readonly text: string;
  readonly color: string | null;
}
type Screen = readonly (readonly Span[])[];

/** Runs the shell line, and gives its SVG. `shown`: the line as a reader would type it. */
export async function recordTerminal(line: string, shown: string, cwd: string): Promise<string> {
  const beganAt = performance.now();
  const frames: { atS: number; written: string }[] = [];
  let written = '';
  const script = spawn('script', ['-qec', `stty cols ${COLUMNS}; ${line}`, '/dev/null'], { cwd });
  script.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    frames.push({ atS: (performance.now() - beganAt) / 1_000, written });
  });
  await new Promise((resolve, reject) => script.once('error', reject).once('close', resolve));
  const screens = frames.map(({ atS, written: so }) => ({ atS, screen: screenOf(so) }));
  return svgOf(screens, shown);
}

/** What a terminal shows of this: line breaks, carriage returns, erased lines and colours. */
function screenOf(written: string): Screen {
  const lines: Span[][] = [[]];
  let color: string | null = null;
  for (const piece of written.split(ESCAPE)) {
    const [sequence = '', code = '', end] = /^\[([\d;]*)([A-Za-z])/.exec(piece) ?? [];
    if (end === 'm') color = COLORS[code] ?? null;
    if (end === 'K' && code === '2') lines[lines.length - 1] = [];
    for (const part of piece.slice(sequence.length).split(/(\r\n|\n|\r)/)) {
      if (part === '\r\n' || part === '\n') lines.push([]);
      else if (part === '\r') lines[lines.length - 1] = [];
      else if (part !== '') print(lines, part, color);
    }
  }
  return lines;
}

/** A line that is full goes on below. */
function print(lines: Span[][], text: string, color: string | null): void {
  const line = lines.at(-1) ?? [];
  const room = COLUMNS - line.reduce((sum, span) => sum + span.text.length, 0);
  if (room > 0) line.push({ text: text.slice(0, room), color });
  if (text.length <= room) return;
  lines.push([]);
  print(lines, text.slice(room), color);
}

function svgOf(frames: readonly { readonly atS: number; readonly screen: Screen }[], shown: string): string {
  const whole = (frames.at(-1)?.atS ?? 0) + REST_S;
  const height = Math.max(...frames.map(({ screen }) => screen.length));
  const [width, tall] = [Math.ceil(COLUMNS * CHAR) + 32, (height + 1) * LINE + 56];
  const drawn = thinned(frames).map(({ atS, screen }, index, all) => {
    const until = all[index + 1]?.atS ?? whole;
    const [from, to] = [share(atS, whole), share(until, whole)];
    const rows = screen.map((spans, at) => rowOf(spans, at + 1)).join('');
    return {
      style: `#f${index}{animation:k${index} ${whole.toFixed(2)}s step-end infinite}@keyframes k${index}{0%{opacity:0}${from}%{opacity:1}${to}%{opacity:${until === whole ? 1 : 0}}}`,
      group: `<g id="f${index}">${rows}</g>`,
    };
  });
  const prompt = `<text x="16" y="${44}" fill="#e6edf3"><tspan fill="#56d364">$</tspan> ${escaped(shown)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" width="${width}" height="${tall}" role="img" aria-label="${escaped(shown)}, on a terminal">
<style>text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}g{opacity:0}@media (prefers-reduced-motion:reduce){g{animation:none!important}g:last-of-type{opacity:1}}${drawn.map(({ style }) => style).join('')}</style>
<rect width="${width}" height="${tall}" rx="10" fill="#0d1117"/>
<circle cx="18" cy="16" r="5" fill="#ff5f57"/><circle cx="34" cy="16" r="5" fill="#febc2e"/><circle cx="50" cy="16" r="5" fill="#28c840"/>
${prompt}
${drawn.map(({ group }) => group).join('\n')}
</svg>
`;
}

/** At most one frame in a fifth of a second, and the last. */
function thinned<F extends { readonly atS: number }>(frames: readonly F[]): F[] {
  return frames.filter(({ atS }, index) => {
    const next = frames[index + 1];
    return next === undefined || Math.floor(next.atS * 5) !== Math.floor(atS * 5);
  });
}

function rowOf(spans: readonly Span[], line: number): string {
  if (spans.length === 0) return '';
  const words = spans.map(({ text, color }) =>
    color === null ? escaped(text) : `<tspan fill="${color}">${escaped(text)}</tspan>`,
  );
  return `<text x="16" y="${44 + line * LINE}" fill="#e6edf3">${words.join('')}</text>`;
}

const share = (at: number, whole: number) => ((at / whole) * 100).toFixed(2);

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
}
