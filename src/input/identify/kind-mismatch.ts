/**
 * Whether the kind that the user named can be that of the values. A symbol cannot be checked, so
 * nearly any text under `--column website:ticker` would be bought and never found: where most
 * sampled values are surely something else, the run stops before anything is spent.
 */
import { Counter, commonestOf } from '../../core/counter.js';
import { NeverStartError } from '../../core/errors.js';
import { type IdentifierKind, KIND_WORDS } from '../../core/identifier.js';
import { phrase } from '../../core/phrase.js';
import { type RowReason, sayRowReason } from '../../core/row-reason.js';
import { cleanCell } from './clean-cell.js';
import { type ColumnChoice, columnLabel, columnSetting } from './find-column.js';
import { kindOf, readHeader } from './header-words.js';
import { CHECKED_KINDS, identifyCell } from './identify-cell.js';
import { identifyDomain } from './identify-domain.js';
import { isFilled, type JudgeInput, judgeColumn } from './judge-columns.js';

/** From this share of impossible values on the kind is taken for a mistake. */
const MOST_IMPOSSIBLE = 0.8;
/** Fewer values, all of them invalid and so free, prove nothing under a name that says the kind. */
const LEAST_VALUES = 5;

/** Throws column-mismatch. `named`: the choices whose kind the user gave. */
export function assertKindsFit(
  judge: JudgeInput,
  named: readonly ColumnChoice[],
  choices: readonly ColumnChoice[],
): void {
  for (const choice of named) {
    const others = choices.filter((other) => other !== choice);
    const isServed = (row: readonly string[]) =>
      others.some(({ column, kind }) => isFilled(row[column] ?? '') && !faultOf(row[column] ?? '', kind));
    const faults = judge.sample.flatMap((row) => {
      const cell = row[choice.column] ?? '';
      if (!isFilled(cell)) return [];
      const fault = faultOf(cell, choice.kind);
      // An invalid cell is not bought: the row falls back on another column.
      return fault !== null && !fault.isBought && isServed(row) ? [] : [fault];
    });
    const { meaning } = readHeader(judge.columns[choice.column] ?? '');
    const saysKind = meaning !== null && kindOf(meaning) === choice.kind;
    const isSmall = faults.length < LEAST_VALUES && saysKind && CHECKED_KINDS.has(choice.kind);
    const causes = faults.flatMap((fault) => fault?.cause ?? []);
    if (faults.length === 0 || isSmall || causes.length < faults.length * MOST_IMPOSSIBLE) continue;
    throw mismatch(judge, choice, faults.length, causes);
  }
}

interface Fault {
  readonly cause: RowReason;
  /** Only its looks are suspicious, so it would be looked up. */
  readonly isBought: boolean;
}

/** Why a filled cell cannot be of the kind; null when it can. */
function faultOf(cell: string, kind: IdentifierKind): Fault | null {
  const read = identifyCell(cell, kind);
  if (read.type === 'invalid') return { cause: read.reason, isBought: false };
  if (CHECKED_KINDS.has(kind) || read.type === 'skipped') return null;
  const cleaned = cleanCell(cell);
  if (!cleaned.includes('.') || identifyDomain(cleaned).type !== 'identifier') {
    return isWrittenLikeName(cleaned) ? { cause: { code: 'name' }, isBought: true } : null;
  }
  return kind === 'auto' || mayBeSymbol(cleaned, kind) ? null : { cause: { code: 'domain' }, isBought: true };
}

/** Suffixes that no exchange has, in any case. */
const WEB_SUFFIX = /\.(?:com|net|org|info|biz|edu|gov)$/i;
/** `sap.de` may be a ticker in lower case, `siemens.de` hardly. */
const LOWER_TICKER = /^[a-z0-9-]{1,6}\.[a-z0-9-]{1,2}$/;

/** Whether a domain may be one: `SAP.DE` is a ticker where the column says so; coins never are. */
function mayBeSymbol(cleaned: string, kind: IdentifierKind): boolean {
  if (kind === 'crypto' || WEB_SUFFIX.test(cleaned)) return false;
  return cleaned === cleaned.toUpperCase() || LOWER_TICKER.test(cleaned);
}

/** `Acme`, `Apple Inc.`, `the bakery`: symbols are written in one word and one case. */
function isWrittenLikeName(cleaned: string): boolean {
  const isTitle = /^\p{Lu}\p{Ll}{3,}(?!\S*[.:]\p{Lu})/u.test(cleaned);
  return isTitle || (/\s/.test(cleaned) && /\p{Ll}{3,}/u.test(cleaned));
}

function mismatch(judge: JudgeInput, choice: ColumnChoice, filled: number, causes: readonly RowReason[]) {
  const { columns } = judge;
  const { column, kind } = choice;
  const read = judgeColumn({ ...judge, kind: null }, column, true)?.kind ?? kind;
  const right =
    read === kind ? 'name the right column or kind' : phrase`use ${columnSetting(columns, column, read)}`;
  const counter = new Counter<RowReason>();
  for (const cause of causes) counter.add(cause);
  const mostFrequent = commonestOf(counter, 1)
    .map(({ value }) => sayRowReason(value))
    .join();
  return new NeverStartError({
    code: 'column-mismatch',
    what: `most values of this column cannot be ${KIND_WORDS[kind]}`,
    subject:
      `${columnLabel(columns, column)} as ${kind}: ${causes.length} of ${filled} sampled values do ` +
      `not fit (most often: ${mostFrequent})`,
    todo: phrase`${right}, or use ${{ set: { allowMismatch: true } }} to continue anyway`,
  });
}
