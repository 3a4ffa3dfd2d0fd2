/** Reads the brands in the output that a complete run is about to replace. */
import { stat } from 'node:fs/promises';
import type { Brand } from '../../brand-api/brand.js';
import { ConfigError } from '../../core/errors.js';
import { membersOf } from '../../core/json-text.js';
import { attempt, createTurns } from '../../core/lifecycle.js';
import { phrase } from '../../core/phrase.js';
import { isJson, jsonKey, type Row } from '../../core/table.js';
import type { Input } from '../../input/input.js';
import { openInput } from '../../input/open-input.js';
import { isObject } from './brand-fields.js';
import type { Column } from './columns.js';
import { NOTHING_ASKED } from './output-plan.js';

interface Selection {
  meets(cells: readonly string[]): boolean;
  /** Called for a row that the earlier run did not look up. */
  noteSkipped(cells: readonly string[]): void;
}

/** A matched row of the earlier output. */
export interface EarlierBrand {
  /** Empty if the output has no column for it. */
  readonly kind: string;
  readonly identifier: string;
  readonly name: string;
  readonly domain: string;
  /** The cell of each compared column; null if the output lacks the column. */
  readonly cells: readonly (string | null)[];
}

interface EarlierOutputOptions {
  readonly prefix: string;
  readonly columns: readonly Column[];
  readonly selectionOf: (columns: readonly string[]) => Selection;
  /** The folder for a copy of an input that can be read only once. */
  readonly spoolFolder: string;
  readonly stop: AbortSignal;
}

/** Calls `onBrand` for each matched row; returns when the file was written, null without one. */
export async function readEarlierOutput(
  path: string,
  options: EarlierOutputOptions,
  onBrand: (brand: EarlierBrand) => void,
): Promise<Date | null> {
  const { spoolFolder, stop } = options;
  const facts = await stat(path).catch(() => null);
  if (facts === null) return null;
  // The form in which a run writes; rows may have been edited since.
  const writtenForm = { encoding: 'utf-8', header: true, skipLines: 0, ragged: 'take', limit: null } as const;
  const detected = { delimiter: null, records: null, sheet: null };
  const input = await openInput(path, { ...writtenForm, ...detected }, { only: 'file', spoolFolder, stop });
  try {
    const read = isJson(input.shape.format) ? readerOfJson(options) : readerOfCells(input, options);
    const selection = options.selectionOf(input.shape.columns);
    const turns = createTurns();
    for await (const batch of input.rows()) {
      for (const row of batch) {
        if (turns.isOver()) await turns.next();
        if (row.problem !== null) continue;
        const brand = read(row);
        if (brand === 'skipped') selection.noteSkipped(row.cells);
        else if (brand !== null && selection.meets(row.cells)) onBrand(brand);
      }
    }
    return facts.mtime;
  } finally {
    await input.close();
  }
}

/** Returns null for a row without a brand, `skipped` if the earlier run did not look it up. */
type ReadBrand = (row: Row) => EarlierBrand | 'skipped' | null;

function readerOfCells({ name: path, shape }: Input, { prefix, columns }: EarlierOutputOptions): ReadBrand {
  const placeOf = (column: string) => shape.columns.indexOf(prefix + column);
  const [status, identifier] = [placeOf('status'), placeOf('identifier')];
  if (status < 0 || identifier < 0)
    throw new ConfigError({
      code: 'column-unknown',
      what: `the file has no columns ${prefix}status and ${prefix}identifier`,
      subject: path,
      todo: phrase`check ${{ setting: 'prefix' }}`,
    });
  const [kind, name, domain] = [placeOf('kind'), placeOf('name'), placeOf('domain')];
  const places = columns.map((column) => placeOf(column.name));
  return ({ cells }) => {
    if (cells[status] !== 'matched') return cells[status] === 'skipped' ? 'skipped' : null;
    const cellAt = (place: number) => cells[place] ?? '';
    return {
      kind: cellAt(kind),
      identifier: cellAt(identifier),
      name: cellAt(name),
      domain: cellAt(domain),
      cells: places.map((place) => (place < 0 ? null : cellAt(place))),
    };
  };
}

function readerOfJson({ prefix, columns }: EarlierOutputOptions): ReadBrand {
  const key = jsonKey(prefix);
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  return ({ raw }) => {
    const member = membersOf(raw)?.find((each) => each.key === key);
    const value = member && raw.slice(member.valueStart, member.valueEnd);
    const ours: unknown = attempt(() => JSON.parse(value ?? 'null'), null);
    if (!isObject(ours)) return null;
    if (ours.status !== 'matched') return ours.status === 'skipped' ? 'skipped' : null;
    const brand: Brand = isObject(ours.profile) ? ours.profile : {};
    return {
      kind: textOf(ours.kind),
      identifier: textOf(ours.identifier),
      name: textOf(brand.name),
      domain: textOf(brand.domain),
      cells: columns.map((column) => column.cell(NOTHING_ASKED, brand)),
    };
  };
}
