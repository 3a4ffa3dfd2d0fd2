/**
 * `--changes`: brands that are new, changed or gone since the earlier output, compared by the cells
 * of columns that both have, if both runs selected the row. The file of changes gets its name
 * before the output, so that a crash in between repeats the changes.
 */
import { stat } from 'node:fs/promises';
import type { Brand } from '../../brand-api/brand.js';
import { Counter, countsInWords } from '../../core/counter.js';
import { BrandEnrichError, ConfigError } from '../../core/errors.js';
import { IDENTIFIER_KINDS, identifierText, parseIdentifierText } from '../../core/identifier.js';
import { attempt, createTurns } from '../../core/lifecycle.js';
import { phrase } from '../../core/phrase.js';
import { RowFilter } from '../../input/identify/choose-columns.js';
import type { ColumnChoice } from '../../input/identify/find-column.js';
import { identifyRow } from '../../input/identify/identify-cell.js';
import type { RowCondition } from '../../settings/column-value.js';
import type { Document } from '../documents.js';
import type { Answers } from '../lookups/answers.js';
import { IdentifierSpool } from '../scan/identifier-spool.js';
import { grown, type SpoolFile } from '../scan/spool-file.js';
import { scalarText } from './brand-fields.js';
import { type Column, columnsFor } from './columns.js';
import { escapeFormula, sanitizeCell, writeCells } from './csv-record.js';
import { type EarlierBrand, readEarlierOutput } from './earlier-output.js';
import { createOutput } from './output-file.js';
import { NOTHING_ASKED, type OutputPlan } from './output-plan.js';

/** One line of the file. `status`: of the identifier now; empty if the input lacks it. */
interface Change {
  readonly change: 'new' | 'changed' | 'vanished';
  readonly kind: string;
  readonly identifier: string;
  readonly name: string;
  readonly domain: string;
  readonly fields: readonly string[];
  readonly status: string;
}

const KEYS = ['change', 'kind', 'identifier', 'name', 'domain', 'fields', 'status'] as const;

/** The note on an identifier that the earlier run did not look up. */
const UNSELECTED = '-';

/** Columns about the answer, not about the brand. */
const NOT_OF_BRANDS = ['status', 'kind', 'identifier', 'source', 'duplicate_of', 'fetched_at', 'error'];

export type ChangesReport = NonNullable<Document<'report'>['changes']>;

export interface ChangesRequest {
  readonly plan: Pick<OutputPlan, 'fields' | 'prefix' | 'escapeFormulas'>;
  /** The file of the changes: CSV, or JSON lines by its name. */
  readonly file: string;
  readonly earlier: string;
  readonly identifiers: IdentifierSpool;
  /** The rows of this run. `isCut`: `--limit` left rows out, so no identifier counts as gone. */
  readonly selected: {
    readonly where: readonly RowCondition[];
    readonly choices: readonly ColumnChoice[];
    readonly isCut: boolean;
  };
  readonly openSpool: (name: string) => SpoolFile;
  readonly spoolFolder: string;
  readonly stop: AbortSignal;
  readonly emit: (notice: { type: 'notice'; text: string }) => void;
}

/** Reads the earlier output; a notice says why it cannot be compared. Throws `ConfigError`. */
export async function openChanges(request: ChangesRequest): Promise<Changes> {
  const { earlier, stop, emit } = request;
  const tell = (text: string) => emit({ type: 'notice', text });
  const facts = await stat(earlier).catch(() => null);
  if (facts !== null && !facts.isFile())
    throw new ConfigError({
      code: 'usage-invalid',
      what: 'changes need an earlier output to compare with, and this output is not a file',
      subject: earlier,
      todo: phrase`name a file with ${{ setting: 'output', shell: '-o' }}, or ${{ unset: 'changes' }}`,
    });
  const changes = new Changes(request);
  try {
    await changes.readEarlier(request);
    if (changes.since === null) tell(`there is no ${earlier} yet: all its brands will count as new`);
    return changes;
  } catch (error) {
    if (stop.aborted || !(error instanceof BrandEnrichError)) throw error;
    tell(`all brands will count as new, because ${earlier} cannot be compared with: ${error.what}`);
    return new Changes(request);
  }
}

export class Changes {
  /** When the earlier output was written; null without one. */
  since: Date | null = null;
  readonly #columns: readonly Column[];
  readonly #isJson: boolean;
  /** By the number of an identifier: its cells in the earlier output, and its line. */
  readonly #before: NumberedTexts;
  readonly #lines: NumberedTexts;
  /** Identifiers that the input no longer has, and their lines. */
  readonly #gone: IdentifierSpool;
  readonly #goneLines: NumberedTexts;
  readonly #counts = { new: 0, changed: 0, unchanged: 0, vanished: 0, failed: 0 };
  readonly #fields = new Counter<string>();

  constructor(private readonly request: ChangesRequest) {
    const { plan, file, openSpool } = request;
    this.#columns = columnsFor(plan.fields, plan.prefix).filter(({ name }) => !NOT_OF_BRANDS.includes(name));
    this.#isJson = isJsonLines(file);
    this.#before = new NumberedTexts(openSpool('earlier'));
    this.#lines = new NumberedTexts(openSpool('changes'));
    this.#gone = new IdentifierSpool(openSpool('gone'));
    this.#goneLines = new NumberedTexts(openSpool('gone-lines'));
  }

  async readEarlier({ earlier, plan, spoolFolder, stop }: ChangesRequest): Promise<void> {
    const selectionOf = (columns: readonly string[]) => this.#selectionOf(columns);
    const options = { prefix: plan.prefix, columns: this.#columns, spoolFolder, stop, selectionOf };
    this.since = await readEarlierOutput(earlier, options, (brand) => this.#noteEarlier(brand));
  }

  #selectionOf(columns: readonly string[]) {
    const { where, choices } = this.request.selected;
    // Null if the earlier output lacks a column of `where`, and so was selected in another way.
    const filter = attempt(() => new RowFilter(columns, where), null);
    const placed = choices
      .map((choice) => ({ ...choice, column: columns.indexOf(choice.name) }))
      .filter(({ column }) => column >= 0);
    return {
      meets: (cells: readonly string[]) => filter === null || filter.reasonAgainst(cells) === null,
      noteSkipped: (cells: readonly string[]) => {
        for (const identifier of identifyRow(cells, placed).identifiers) {
          const index = this.request.identifiers.find(identifierText(identifier));
          if (index !== null && !this.#before.has(index)) this.#before.set(index, UNSELECTED);
        }
      },
    };
  }

  #noteEarlier({ kind, identifier, name, domain, cells }: EarlierBrand): void {
    const kinds = kind === '' ? IDENTIFIER_KINDS : [kind];
    for (const each of kinds) {
      const index = this.request.identifiers.find(`${each}:${identifier}`);
      if (index === null) continue;
      if (!this.#before.has(index) || this.#before.at(index) === UNSELECTED)
        this.#before.set(
          index,
          JSON.stringify([name, domain, ...cells.map((cell) => (cell === null ? null : hashOf(cell)))]),
        );
      return;
    }
    if (this.request.selected.isCut) return;
    const countBefore = this.#gone.count;
    const index = this.#gone.add(`${kind}:${identifier}`);
    if (index < countBefore) return;
    const gone = { change: 'vanished', kind, identifier, name, domain, fields: [], status: '' } as const;
    this.#goneLines.set(index, this.#lineOf(gone));
  }

  /** Notes the brand of an identifier, once each: its number, its text, the profile. */
  note(index: number, text: string, brand: Brand): void {
    const before = this.#before.at(index);
    if (before === UNSELECTED) return;
    const [, , ...hashes] = before === null ? [] : (JSON.parse(before) as (string | number | null)[]);
    const fields = this.#columns
      .filter((column, at) => isDifferent(hashes[at], column.cell(NOTHING_ASKED, brand)))
      .map(({ name }) => name);
    if (before !== null && fields.length === 0) {
      this.#counts.unchanged += 1;
      return;
    }
    const change = before === null ? 'new' : 'changed';
    this.#counts[change] += 1;
    if (change === 'changed') for (const field of fields) this.#fields.add(field);
    const { kind, value: identifier } = parseIdentifierText(text);
    const [name, domain] = [scalarText(brand.name), scalarText(brand.domain)];
    const named = change === 'changed' ? fields : [];
    this.#lines.set(
      index,
      this.#lineOf({ change, kind, identifier, name, domain, fields: named, status: 'matched' }),
    );
  }

  /**
   * Writes the file in one step: changes in the order of the input, then brands whose identifiers
   * the input no longer has. A failed lookup is no change. Throws `output-unwritable`.
   */
  async write(answers: Pick<Answers, 'status'>): Promise<ChangesReport> {
    const { file, identifiers } = this.request;
    const output = await createOutput(file, { gzip: false, bom: false, stdout: null });
    const turns = createTurns();
    try {
      if (!this.#isJson) await output.write(`${KEYS.join()}\n`);
      for (const { first, texts } of identifiers.batches()) {
        if (turns.isOver()) await turns.next();
        for (const [offset, text] of texts.entries()) {
          const line = this.#lines.at(first + offset) ?? this.#vanished(first + offset, text, answers);
          if (line !== null) await output.write(line);
        }
      }
      for (let index = 0; index < this.#gone.count; index += 1) {
        if (turns.isOver()) await turns.next();
        await output.write(this.#goneLines.at(index) ?? '');
      }
      await output.commit();
    } finally {
      await output.discard();
    }
    this.#counts.vanished += this.#gone.count;
    return {
      file,
      since: this.since?.toISOString() ?? null,
      ...this.#counts,
      fields: countsInWords(this.#fields, (name) => name),
    };
  }

  #vanished(index: number, text: string, answers: Pick<Answers, 'status'>): string | null {
    const before = this.#before.at(index);
    const status = answers.status(index) ?? '';
    if (before === null || before === UNSELECTED || status === 'matched') return null;
    if (status === 'failed') {
      this.#counts.failed += 1;
      return null;
    }
    this.#counts.vanished += 1;
    const [name = '', domain = ''] = JSON.parse(before) as string[];
    const { kind, value: identifier } = parseIdentifierText(text);
    return this.#lineOf({ change: 'vanished', kind, identifier, name, domain, fields: [], status });
  }

  #lineOf(change: Change): string {
    if (this.#isJson) return `${JSON.stringify({ ...change, status: change.status || null })}\n`;
    const { escapeFormulas } = this.request.plan;
    const cells = KEYS.map((key) => {
      const cell = key === 'fields' ? change.fields.join('|') : change[key];
      return escapeFormula(sanitizeCell(cell), escapeFormulas);
    });
    return `${writeCells(cells, ',')}\n`;
  }
}

function isJsonLines(file: string): boolean {
  return /\.(?:jsonl|ndjson)$/i.test(file);
}

/** True if a cell changed; false for a column that the earlier output lacks. */
function isDifferent(before: string | number | null | undefined, cell: string): boolean {
  return typeof before === 'number' && before !== hashOf(cell);
}

/** Returns the FNV-1a hash of a cell, the same in all formats despite blanks, escapes, digits. */
function hashOf(cell: string): number {
  const text = sanitizeCell(cell)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/^'/, '');
  const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && text.length > SAFE_DIGITS;
  const plain = isNumber ? String(Number(Number(text).toPrecision(SAFE_DIGITS))) : text;
  const canonical = /^(?:true|false)$/i.test(plain) ? plain.toLowerCase() : plain;
  let hash = 0x811c9dc5;
  for (let at = 0; at < canonical.length; at += 1)
    hash = Math.imul(hash ^ canonical.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

const SAFE_DIGITS = 12;

class NumberedTexts {
  #starts = new Float64Array(1_024);
  #lengths = new Uint32Array(1_024);

  constructor(private readonly file: SpoolFile) {}

  set(index: number, text: string): void {
    this.#starts = grown(this.#starts, index + 1);
    this.#lengths = grown(this.#lengths, index + 1);
    const { buffer, at } = this.file.room(text.length * 3);
    const bytes = buffer.write(text, at);
    this.#starts[index] = this.file.length;
    this.#lengths[index] = bytes;
    this.file.advance(bytes);
  }

  has(index: number): boolean {
    return (this.#lengths[index] ?? 0) > 0;
  }

  at(index: number): string | null {
    const bytes = this.#lengths[index] ?? 0;
    return bytes === 0 ? null : this.file.read(this.#starts[index] ?? 0, bytes).toString('utf8');
  }
}
