/** The parts of an output, and the types of a renderer's input and output. */
import type { Brand } from '../../brand-api/brand.js';
import type { Identifier } from '../../core/identifier.js';
import type { AnswerSource, OutcomeStatus } from '../../core/outcome.js';
import type { TableFormat, TableShape } from '../../core/table.js';
import type { Settings } from '../../settings/settings.js';
import { isObject } from './brand-fields.js';

/** The result of one identifier: rendered once, used for all its rows. */
export interface AnswerView {
  readonly status: OutcomeStatus;
  /** Null for `invalid` and `skipped`, which have no lookup. */
  readonly identifier: Identifier | null;
  /** The whole JSON text of the service; null without a match. */
  readonly profile: string | null;
  /** The parsed `profile`, if the caller has it. */
  readonly brand?: Brand;
  readonly source: AnswerSource | null;
  /** Milliseconds since 1970, UTC. */
  readonly fetchedAt: number | null;
  /** Why there is no answer; null for `matched`, and for `not_found` unless that is temporary. */
  readonly error: string | null;
}

/** The result of an unreadable row, without the reason. */
export const NOTHING_ASKED: AnswerView = {
  status: 'invalid',
  identifier: null,
  profile: null,
  source: null,
  fetchedAt: null,
  error: null,
};

/** The pieces around the cells that differ between rows of an identifier. */
export interface RenderedAnswer {
  readonly before: string;
  readonly after: string;
  /** The name of the brand, if names are compared and there is one. */
  readonly name?: string;
  /** Values for the columns to fill, as JSON; absent without any, or for a doubtful brand. */
  readonly fill?: string;
}

/** The settings of the contents of an output. */
export type OutputSettings = Pick<
  Settings,
  'fields' | 'prefix' | 'outputHeader' | 'escapeFormulas' | 'errorsInclude' | 'minQuality'
>;

/** `fields` are for CSV and formats with types: a JSON line carries the whole profile. */
export interface OutputPlan extends OutputSettings {
  readonly input: TableShape;
  /** Format of the output; rows are converted when the input has another format. */
  readonly format: TableFormat;
  /** CSV: positions of the columns of an earlier run, which are removed. */
  readonly replacedColumns: readonly number[];
  /** True if a row was unreadable: adds column `brand_raw`; in JSON lines `raw` under our key. */
  readonly hasUnreadable: boolean;
  /** CSV: true if rows have surplus cells. They are cut; `brand_raw` has the whole rows. */
  readonly hasSurplus: boolean;
  /** CSV: true if rows lack last cells, which the output adds. */
  readonly hasShort: boolean;
  /** Columns of the input, or new ones after them, that get values of the brand. */
  readonly fills: readonly FilledColumn[];
  /** True for the column `brand_name_match`, which compares the names of row and brand. */
  readonly matchesNames: boolean;
  /** All columns or keys of the input: the columns of JSON lines that become CSV. */
  readonly allColumns: readonly string[];
}

/** A column to fill. `at`: its position, from 0; new ones come last. `path`: its keys in JSON. */
export interface FilledColumn {
  readonly name: string;
  readonly field: string;
  readonly at: number;
  readonly path: readonly string[];
  readonly isOver: boolean;
  readonly isNew: boolean;
}

export interface Renderer {
  /** Returns the header record with its line end; null without one. */
  header(): string | null;
  /** Renders the result of an identifier, for {@link Renderer.row}. */
  answer(view: AnswerView): RenderedAnswer;
  /** Renders a record with its line end. `duplicateOf`: the first row. `nameMatch`: 0 to 1. */
  row(raw: string, answer: RenderedAnswer, duplicateOf: number | null, nameMatch?: number | null): string;
  /** Renders an unreadable row: its unchanged text and the reason. */
  unreadable(raw: string, reason: string): string;
}

/** Returns the parsed brand; empty without one. */
export function brandOf({ brand, profile }: Pick<AnswerView, 'brand' | 'profile'>): Brand {
  const parsed: unknown = brand ?? JSON.parse(profile ?? 'null');
  return isObject(parsed) ? parsed : {};
}

/** Returns the text in one piece, because copying one joined from pieces takes 20 times as long. */
export function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}

/** Says why a brand is probably not real; null if its score is high enough. */
export function doubtOf(score: number | null, { minQuality }: Pick<Settings, 'minQuality'>): string | null {
  if (score === null || Number.isNaN(score) || minQuality === null || score >= minQuality) return null;
  return `quality score ${score} is below ${minQuality}: probably not a real brand`;
}
