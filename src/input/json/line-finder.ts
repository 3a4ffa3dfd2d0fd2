/** Finds characters and line ends in a window of text without searching any stretch twice. */

/** `lf`: LF or CRLF ends a line. `cr`: CR does too, as in files of old Macs. */
export type LineMode = 'lf' | 'cr';

const LF = 10;
const CR = 13;

/** Remembers the last hit, so that asking again for a nearby place costs nothing. */
export class CharFinder {
  #from = 0;
  #at = -1;

  constructor(
    private readonly text: string,
    private readonly char: string,
  ) {}

  /** Index of the first such character at or after `from`; `Infinity` when there is none. */
  next(from: number): number {
    if (from >= this.#from && from <= this.#at) return this.#at;
    const found = this.text.indexOf(this.char, from);
    this.#from = from;
    this.#at = found < 0 ? Number.POSITIVE_INFINITY : found;
    return this.#at;
  }
}

export class LineFinder {
  readonly #lf: CharFinder;
  readonly #cr: CharFinder | null;

  /** `isLast`: no text follows this window, so a CR at its end is a whole line end. */
  constructor(
    private readonly text: string,
    mode: LineMode,
    private readonly isLast: boolean,
  ) {
    this.#lf = new CharFinder(text, '\n');
    this.#cr = mode === 'cr' ? new CharFinder(text, '\r') : null;
  }

  /** Index of the end of the line that `from` is in; `Infinity` when the window ends before. */
  next(from: number): number {
    const lf = this.#lf.next(from);
    if (this.#cr === null) return lf;
    const cr = this.#cr.next(from);
    if (cr > lf) return lf;
    return cr === this.text.length - 1 && !this.isLast ? Number.POSITIVE_INFINITY : cr;
  }

  /** Where the line's own text stops, given the end that `next` found and where the line begins. */
  stop(end: number, begin: number): number {
    return this.#cr === null && end > begin && this.text.charCodeAt(end - 1) === CR ? end - 1 : end;
  }

  /** Where the next line begins, given the end that `next` found. */
  after(end: number): number {
    const isPair = this.text.charCodeAt(end) === CR && this.text.charCodeAt(end + 1) === LF;
    return isPair ? end + 2 : end + 1;
  }

  /** Line ends that begin in `from` to `to`, counted no further than `max`. */
  count(from: number, to: number, max = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (let end = this.next(from); end < to && count < max; end = this.next(this.after(end))) count += 1;
    return count;
  }
}

/** Judges how lines end: by LF where both occur, unless lone CRs outside of quotes prevail. */
export function detectLineMode(text: string, isQuoteAware: boolean): LineMode {
  if (!text.includes('\r')) return 'lf';
  if (!text.includes('\n')) return 'cr';
  const bare = isQuoteAware ? text.replace(/"[^"]*"?/g, '"') : text;
  const lf = bare.split('\n').length - 1;
  const loneCr = bare.split(/\r(?!\n|$)/).length - 1;
  // A stray quote can hide every line end.
  if (isQuoteAware && loneCr + lf === 0) return detectLineMode(text, false);
  return loneCr > lf ? 'cr' : 'lf';
}

/** The line end that stands at `index`, or null when none does. */
export function lineEndAt(text: string, index: number): '\n' | '\r\n' | '\r' | null {
  if (text.startsWith('\r\n', index)) return '\r\n';
  const char = text[index];
  return char === '\n' || char === '\r' ? char : null;
}
