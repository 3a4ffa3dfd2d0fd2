/** Finds characters and line ends in a window of text without searching any part twice. */

/** `lf`: LF or CRLF ends a line. `cr`: a lone CR ends one too, as on old Macs. */
export type LineMode = 'lf' | 'cr';

const LF = 10;
const CR = 13;

/** Finds a character, and remembers the last hit for the next search. */
export class CharFinder {
  #from = 0;
  #at = -1;

  constructor(
    private readonly text: string,
    private readonly char: string,
  ) {}

  /** Returns the first index of the character at or after `from`, or `Infinity`. */
  next(from: number): number {
    if (from >= this.#from && from <= this.#at) return this.#at;
    const index = this.text.indexOf(this.char, from);
    this.#from = from;
    this.#at = index < 0 ? Number.POSITIVE_INFINITY : index;
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

  /** Returns the index of the end of the line at `from`; `Infinity` if the window ends first. */
  next(from: number): number {
    const lf = this.#lf.next(from);
    if (this.#cr === null) return lf;
    const cr = this.#cr.next(from);
    if (cr > lf) return lf;
    return cr === this.text.length - 1 && !this.isLast ? Number.POSITIVE_INFINITY : cr;
  }

  /** Returns where the text of a line stops, for the end that `next` found and the line's begin. */
  stop(end: number, begin: number): number {
    return this.#cr === null && end > begin && this.text.charCodeAt(end - 1) === CR ? end - 1 : end;
  }

  /** Returns where the next line begins, for the end that `next` found. */
  after(end: number): number {
    const isPair = this.text.charCodeAt(end) === CR && this.text.charCodeAt(end + 1) === LF;
    return isPair ? end + 2 : end + 1;
  }

  /** Counts the line ends between `from` and `to`, up to `max`. */
  count(from: number, to: number, max = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (let end = this.next(from); end < to && count < max; end = this.next(this.after(end))) count += 1;
    return count;
  }
}

/** Detects how lines end: by LF, unless there are more lone CRs outside of quotes. */
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

/** Returns the line end at `index`, or null. */
export function lineEndAt(text: string, index: number): '\n' | '\r\n' | '\r' | null {
  if (text.startsWith('\r\n', index)) return '\r\n';
  const char = text[index];
  return char === '\n' || char === '\r' ? char : null;
}
