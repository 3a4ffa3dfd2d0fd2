/** Stops a run before it buys values that surely are not of the kind that the user named. */
import { commonest, countEach } from '../../core/counter.js';
import { ConfigError } from '../../core/errors.js';
import { type IdentifierKind, KIND_WORDS } from '../../core/identifier.js';
import { phrase } from '../../core/phrase.js';
import { type RowReason, sayRowReason } from '../../core/row-reason.js';
import { findByName } from './column-evidence.js';
import { kindOfColumn } from './decide-columns.js';
import type { Facts } from './explain-columns.js';
import { type ColumnChoice, columnLabel, columnSetting } from './find-column.js';
import { CHECKED_KINDS, identifyCell } from './identify-cell.js';
import type { CellReading, MeasuredColumn } from './measure-columns.js';

/** From this share of impossible values on, the kind counts as a mistake. */
const MOST_IMPOSSIBLE = 0.8;
/** Fewer invalid values, which cost nothing, prove nothing under a name that says the kind. */
const LEAST_VALUES = 5;

/** Throws column-mismatch. `named`: the choices whose kind the user gave. */
export function assertKindsFit(
  seen: Facts,
  named: readonly ColumnChoice[],
  choices: readonly ColumnChoice[],
): void {
  const { table } = seen;
  const columnOf = (choice: ColumnChoice) => table.columns.find(({ column }) => column === choice.column);
  for (const choice of named) {
    const column = columnOf(choice);
    if (column === undefined) continue;
    const others = choices.filter((other) => other !== choice);
    const isServed = (row: number) =>
      others.some((other) => {
        const cell = columnOf(other)?.cells[row] ?? null;
        return cell !== null && faultOf(cell, other.kind) === null;
      });
    const faults = column.cells.flatMap((cell, row) => {
      if (cell === null) return [];
      const fault = faultOf(cell, choice.kind);
      // An invalid cell is not bought: the row falls back on another column.
      return fault !== null && !fault.isBought && isServed(row) ? [] : [fault];
    });
    const saysKind = findByName({ ...table, columns: [column] }, choice.kind).length > 0;
    const isSmall = faults.length < LEAST_VALUES && saysKind && CHECKED_KINDS.has(choice.kind);
    const causes = faults.flatMap((fault) => fault?.cause ?? []);
    if (faults.length === 0 || isSmall || causes.length < faults.length * MOST_IMPOSSIBLE) continue;
    throw mismatch(seen, column, choice.kind, faults.length, causes);
  }
}

/** `isBought`: true if the value only looks wrong, so that it would be looked up. */
type Fault = { readonly cause: RowReason; readonly isBought: boolean };

/** Suffixes that no exchange has. */
const WEB_SUFFIX = /\.(?:com|net|org|info|biz|edu|gov)$/i;
/** `SAP.DE` and `sap.de` may be tickers, `siemens.de` hardly. */
const LISTED = /^(?:\P{Ll}+|[a-z0-9-]{1,6}\.[a-z0-9-]{1,2})$/u;
/** `Acme`, `Apple Inc.`, `the bakery`: symbols are written in one word and one case. */
const NAME = /^\p{Lu}\p{Ll}{3}(?!\S*[.:]\p{Lu})/u;
const isName = (text: string) => NAME.test(text) || (/\s/.test(text) && /\p{Ll}{3}/u.test(text));

/** Returns why a filled cell cannot be of the kind, or null. */
function faultOf({ text, web }: CellReading, kind: IdentifierKind): Fault | null {
  const read = identifyCell(text, kind);
  if (read.type === 'invalid') return { cause: read.reason, isBought: false };
  if (CHECKED_KINDS.has(kind) || read.type === 'skipped') return null;
  if (web === null) return isName(text) ? { cause: { code: 'name' }, isBought: true } : null;
  const isListed = kind === 'ticker' && LISTED.test(text) && !WEB_SUFFIX.test(text);
  return kind === 'auto' || isListed ? null : { cause: { code: 'domain' }, isBought: true };
}

function mismatch(
  { columns, table }: Facts,
  measured: MeasuredColumn,
  kind: IdentifierKind,
  filled: number,
  causes: readonly RowReason[],
) {
  const { column } = measured;
  const read = kindOfColumn(table, measured, null)?.kind ?? kind;
  const right =
    read === kind ? 'name the right column or kind' : phrase`use ${columnSetting(columns, column, read)}`;
  const [mostFrequent] = commonest(countEach(causes.map(sayRowReason))) ?? [];
  const what = `most values of this column cannot be ${KIND_WORDS[kind]}`;
  const misfits = `${causes.length} of ${filled} sampled values do not fit (most often: ${mostFrequent})`;
  const subject = `${columnLabel(columns, column)} as ${kind}: ${misfits}`;
  const todo = phrase`${right}, or use ${{ set: { allowMismatch: true } }} to continue anyway`;
  return new ConfigError({ code: 'column-mismatch', what, subject, todo });
}
