/**
 * Weighs names and sampled values: what each column most probably holds, and how surely. Pure numbers in, readings
 * out; whether the best reading is good enough to spend money on is `choose-columns.ts`'s.
 *
 * score = (0.4 x how well the name fits + 0.6 x share of values that fit) x share of rows that are filled,
 * times 0.7 for tickers and symbols, which no check can confirm.
 */

import type { IdentifierKind } from '../core/identifier.js';
import { type HeaderMeaning, readHeader } from './header-words.js';
import { type ColumnSample, sampleColumn } from './sample-column.js';

export interface ColumnReading {
  readonly column: number;
  /** null: a ticker or a crypto symbol, nothing tells which. */
  readonly kind: IdentifierKind | null;
  readonly isMail: boolean;
  /** 0 to 1. */
  readonly score: number;
  /** Sampled values that fit. */
  readonly fitting: number;
  /** "its name and 98 of 100 sampled values say so", for people. */
  readonly because: string;
}

export interface JudgeInput {
  readonly columns: readonly string[];
  readonly sample: readonly (readonly string[])[];
  /** What the other columns say about a column named `symbol`. */
  readonly context: 'ticker' | 'crypto' | null;
  /** `--kind`: readings of other kinds do not count, and the values need no name beside them. */
  readonly kind: IdentifierKind | null;
}

/** Without a fitting name this share of the values must fit. */
const SHARE_ALONE = 0.8;
/** With one: what does not fit costs nothing, since it is recognised locally as invalid. */
const SHARE_WITH_NAME = 0.2;
/** A column that the user named needs less to show its kind. */
const SHARE_WHEN_NAMED = 0.5;
const SYMBOL_WEIGHT = 0.7;
/** A nearly empty column still counts a little. */
const LEAST_FILL = 0.05;

/**
 * What one column holds, or null when neither name nor values say it. `isNamed`: the user pointed at this column; only then, or when
 * there is no row at all, a name alone says something.
 */
export function judgeColumn(input: JudgeInput, column: number, isNamed: boolean): ColumnReading | null {
  const header = readHeader(input.columns[column] ?? '');
  const sample = sampleColumn(input.sample, column);
  if (sample.filled === 0 && sample.rows > 0 && !isNamed) return null;
  const alone = isNamed ? SHARE_WHEN_NAMED : SHARE_ALONE;
  const isPassedOver = !isNamed && (header.isForeign || sample.isOneSite);
  const readings = [
    readChecked('isin', 'isin', sample.isins, alone),
    readChecked('id', 'id', sample.certainIds, alone),
    header.meaning === 'id' || input.kind === 'id'
      ? readChecked('id', 'id', sample.possibleIds, SHARE_ALONE)
      : null,
    isPassedOver ? null : readDomain(),
    readSymbol(),
  ];
  return readings.reduce(
    (best, reading) => ((reading?.score ?? 0) > (best?.score ?? 0) ? reading : best),
    null,
  );

  function readChecked(
    kind: 'isin' | 'id',
    meaning: string,
    fitting: number,
    least: number,
  ): ColumnReading | null {
    const isByName = header.meaning === meaning;
    const isEnough =
      sample.filled === 0 ? isByName : fitting / sample.filled >= (isByName ? SHARE_WITH_NAME : least);
    return isEnough ? reading(kind, fitting, isByName) : null;
  }

  function readDomain(): ColumnReading | null {
    const isByName = header.meaning === 'domain' || header.meaning === 'email';
    if (!isByName && header.meaning !== null) return null;
    // In capitals with a short suffix, only the name (or --kind) makes it a domain rather than a ticker.
    const isSettled = isByName || input.kind === 'domain';
    const fitting = sample.domains + sample.emails + (isSettled ? sample.tickerOrDomains : 0);
    const isEnough =
      sample.filled === 0 ? isByName : fitting / sample.filled >= (isByName ? SHARE_WITH_NAME : alone);
    const isMail = sample.filled === 0 ? header.meaning === 'email' : sample.emails * 2 > fitting;
    return isEnough ? { ...reading('domain', fitting, isByName), isMail } : null;
  }

  function readSymbol(): ColumnReading | null {
    const { meaning } = header;
    const isSymbol = meaning === 'ticker' || meaning === 'crypto' || meaning === 'symbol';
    const wanted = input.kind === 'ticker' || input.kind === 'crypto' ? input.kind : null;
    if (!isSymbol && wanted === null) return null;
    const isEnough = sample.filled === 0 ? isSymbol : sample.symbols / sample.filled >= alone;
    if (!isEnough) return null;
    const isByName = isSymbol && (wanted === null || meaning === wanted || meaning === 'symbol');
    const read = reading(wanted ?? symbolKind(meaning), sample.symbols, isByName);
    return { ...read, score: read.score * SYMBOL_WEIGHT };
  }

  /** Lists of coins call their symbols tickers too, so "ticker" beside words of that world is a doubt. */
  function symbolKind(meaning: HeaderMeaning | null): 'ticker' | 'crypto' | null {
    if (meaning === 'crypto') return 'crypto';
    if (meaning === 'ticker') return input.context === 'crypto' ? null : 'ticker';
    return input.context;
  }

  function reading(kind: IdentifierKind | null, fitting: number, isByName: boolean): ColumnReading {
    const share = sample.filled === 0 ? 0 : fitting / sample.filled;
    const fill = sample.rows === 0 ? 1 : Math.max(LEAST_FILL, sample.filled / sample.rows);
    const score = (0.4 * (isByName ? header.weight : 0) + 0.6 * share) * fill;
    return { column, kind, isMail: false, score, fitting, because: explain(isByName, fitting, sample) };
  }
}

function explain(isByName: boolean, fitting: number, { filled }: ColumnSample): string {
  const values = `${fitting} of ${filled} sampled values`;
  if (filled === 0) return 'its name says so (no sampled value)';
  return isByName ? `its name and ${values} say so` : `${values} say so`;
}

/** The readings of all columns but `passedOver`, of the wanted kind if there is one, the surest first. */
export function judgeColumns(input: JudgeInput, passedOver: readonly number[]): ColumnReading[] {
  return input.columns
    .flatMap((_, column) => (passedOver.includes(column) ? [] : [judgeColumn(input, column, false)]))
    .filter((reading): reading is ColumnReading => reading !== null)
    .filter(({ kind }) => input.kind === null || input.kind === 'auto' || kind === input.kind)
    .sort((one, other) => other.score - one.score || one.column - other.column);
}
