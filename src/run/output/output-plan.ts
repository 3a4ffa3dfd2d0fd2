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
  /** null for `invalid` and `skipped`: no lookup. */
  readonly identifier: Identifier | null;
  /** The service's JSON text, whole; null when there is none. */
  readonly profile: string | null;
  /** The same, parsed, where the caller has it; else CSV parses `profile` itself. */
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

/** The pieces around what differs between the rows of an identifier. */
export interface RenderedAnswer {
  readonly before: string;
  readonly after: string;
  /** The name of the brand, where names are compared; empty or absent: there is none. */
  readonly name?: string;
  /** Values for the columns to fill, as JSON; absent: there are none, or the brand is in doubt. */
  readonly fill?: string;
}

/** The settings that say what is written. */
export type OutputSettings = Pick<
  Settings,
  'fields' | 'prefix' | 'outputHeader' | 'escapeFormulas' | 'errorsInclude' | 'minQuality'
>;

/** `fields` are for CSV and formats with types: a JSON line carries the whole profile. */
export interface OutputPlan extends OutputSettings {
  readonly input: TableShape;
  /** Format of the output; rows are converted when the input has another format. */
  readonly format: TableFormat;
  /** CSV: positions of an earlier run's columns, to cut. In JSON lines our key needs none. */
  readonly replacedColumns: readonly number[];
  /** Whether a row was unreadable: adds column `brand_raw`; in JSON lines `raw` under our key. */
  readonly hasUnreadable: boolean;
  /** CSV: whether rows with surplus cells were read. They are cut; `brand_raw` has them whole. */
  readonly hasSurplus: boolean;
  /** CSV: whether rows lack last cells, which the output gets. */
  readonly hasShort: boolean;
  /** Columns of the input, or new ones after them, that get values of the brand. */
  readonly fills: readonly FilledColumn[];
  /** Whether `brand_name_match` says how well the row's name fits that of the brand. */
  readonly matchesNames: boolean;
  /** Every column or key of the input: the columns of JSON lines that become CSV. */
  readonly allColumns: readonly string[];
}

/** One column to fill. `at`: its position, from 0; new ones stand last. */
export interface FilledColumn {
  readonly name: string;
  readonly field: string;
  readonly at: number;
  readonly isOver: boolean;
  readonly isNew: boolean;
}

export interface Renderer {
  /** The header record with its line end; null when the output has none. */
  header(): string | null;
  /** Renders the result of an identifier, for {@link Renderer.row}. */
  answer(view: AnswerView): RenderedAnswer;
  /** A record with its line end. `duplicateOf`: the identifier's first row. `nameMatch`: 0 to 1. */
  row(raw: string, answer: RenderedAnswer, duplicateOf: number | null, nameMatch?: number | null): string;
  /** The output record of an unreadable row: its unchanged text and the reason. */
  unreadable(raw: string, reason: string): string;
}

/** Empty where there is none. */
export function brandOf({ brand, profile }: Pick<AnswerView, 'brand' | 'profile'>): Brand {
  const parsed: unknown = brand ?? JSON.parse(profile ?? 'null');
  return isObject(parsed) ? parsed : {};
}

/** The same text in one piece: copying one joined from many pieces takes 20 times as long. */
export function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}

/** Why a brand is probably not a real one; null: its score is high enough. */
export function doubtOf(score: number | null, { minQuality }: Pick<Settings, 'minQuality'>): string | null {
  if (score === null || Number.isNaN(score) || minQuality === null || score >= minQuality) return null;
  return `quality score ${score} is below ${minQuality}: probably not a real brand`;
}
