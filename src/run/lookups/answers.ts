/** Answers by identifier: status and score in memory (about 35 bytes each), text on disk. */
import { OUTCOME_STATUSES, type OutcomeStatus } from '../../core/outcome.js';
import type { RenderedAnswer } from '../output/output-plan.js';
import { grown, type SpoolFile } from '../scan/spool-file.js';

const CACHED_BYTES = 16 * 1_048_576;
/** Codes of an identifier; 0 if it is not wanted. */
const WANTED = 1;
const FIRST_STATUS = 2;

/** How many texts an answer has. */
const PARTS = 4;

export class Answers {
  /** How many identifiers are wanted, and how many of them have a status. */
  wanted = 0;
  answered = 0;
  #codes = new Uint8Array(1_024);
  #scores = new Float64Array(1_024);
  #positions = new Float64Array(1_024);
  #lengths = new Uint32Array(1_024 * PARTS);
  #firstRows = new Uint32Array(1_024);
  #cache = new Map<number, RenderedAnswer>();
  #cachedBytes = 0;

  constructor(private readonly file: SpoolFile) {}

  /** Marks the identifier as wanted; false if it already was. */
  want(index: number): boolean {
    if (this.isWanted(index)) return false;
    this.#fit(index);
    this.#codes[index] = WANTED;
    this.wanted += 1;
    return true;
  }

  isWanted(index: number): boolean {
    return (this.#codes[index] ?? 0) !== 0;
  }

  /** Returns the status, null before there is an answer. */
  status(index: number): OutcomeStatus | null {
    return OUTCOME_STATUSES[(this.#codes[index] ?? 0) - FIRST_STATUS] ?? null;
  }

  set(index: number, status: OutcomeStatus, score: number | null, rendered: RenderedAnswer): void {
    this.#fit(index);
    const { before, after, name = '', fill = '' } = rendered;
    const texts = [before, after, name, fill];
    // Comes first: a full disk throws here, and the identifier stays without an answer.
    const { buffer, at } = this.file.room(texts.reduce((sum, text) => sum + text.length, 0) * 3);
    if (this.status(index) === null) this.answered += 1;
    this.#codes[index] = OUTCOME_STATUSES.indexOf(status) + FIRST_STATUS;
    this.#scores[index] = score ?? Number.NaN;
    this.#positions[index] = this.file.length;
    let to = at;
    for (const [nth, text] of texts.entries()) {
      const bytes = buffer.write(text, to);
      this.#lengths[index * PARTS + nth] = bytes;
      to += bytes;
    }
    this.file.advance(to - at);
    this.#cache.delete(index);
  }

  score(index: number): number {
    return this.#scores[index] ?? Number.NaN;
  }

  rendered(index: number): RenderedAnswer {
    const cached = this.#cache.get(index);
    if (cached) return cached;
    const lengths = this.#lengths.subarray(index * PARTS, (index + 1) * PARTS);
    const text = this.file.read(
      this.#positions[index] ?? 0,
      lengths.reduce((sum, length) => sum + length, 0),
    );
    let end = 0;
    const [before = '', after = '', name, fill] = Array.from(lengths, (length) => {
      end += length;
      return text.toString('utf8', end - length, end);
    });
    const rendered = { before, after, ...(name && { name }), ...(fill && { fill }) };
    // Rows of one identifier stand together after sorting, so older answers are rarely needed.
    if (this.#cachedBytes > CACHED_BYTES) {
      this.#cache = new Map();
      this.#cachedBytes = 0;
    }
    this.#cache.set(index, rendered);
    this.#cachedBytes += text.length;
    return rendered;
  }

  /** Returns the number of the first row with this identifier; notes `row` if it is the first. */
  firstRow(index: number, row: number): number {
    this.#firstRows[index] ||= row;
    return this.#firstRows[index] ?? row;
  }

  /** Forgets the first rows, before rows are joined again. */
  forgetRows(): void {
    this.#firstRows.fill(0);
  }

  #fit(index: number): void {
    if (index < this.#codes.length) return;
    this.#codes = grown(this.#codes, index + 1);
    this.#scores = grown(this.#scores, index + 1);
    this.#positions = grown(this.#positions, index + 1);
    this.#lengths = grown(this.#lengths, (index + 1) * PARTS);
    this.#firstRows = grown(this.#firstRows, index + 1);
  }
}
