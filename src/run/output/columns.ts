/** The columns that a run adds: the default ones in order, or those of `--fields`. */
import { type Brand, qualityScoreOf, qualityTier } from '../../brand-api/brand.js';
import { type ColumnName, uncheckedPath } from '../../brand-api/known-fields.js';
import type { ColumnType, TypedCell } from '../../core/typed-cell.js';
import { hasNoColumns } from '../../settings/column-value.js';
import {
  bestIcon,
  bestLogo,
  columnOfPath,
  countryOf,
  fieldAt,
  locationOf,
  mainColor,
  mainIndustry,
  scalarText,
  valueAt,
} from './brand-fields.js';
import type { AnswerView } from './output-plan.js';

export interface Column {
  /** Without prefix: `name` for `brand_name`. */
  readonly name: string;
  cell(view: AnswerView, brand: Brand): string;
  /** The type of all cells with a value. */
  readonly type: ColumnType;
  /** The same with its type: number, boolean, moment or address. */
  typed(view: AnswerView, brand: Brand): TypedCell;
}

/** A column whose cells differ between rows of an identifier; the renderer fills them in. */
const DUPLICATE_COLUMN = 'duplicate_of' satisfies ColumnName;
/** The column for the text of unreadable rows, the last if there are any. */
export const RAW_COLUMN = 'raw';

function fromBrand(name: ColumnName, read: (brand: Brand) => unknown, type: ColumnType = 'text'): Column {
  return {
    name,
    type,
    cell: (_view, brand) => scalarText(read(brand)),
    typed: (_view, brand) => typedValue(read(brand), scalarText),
  };
}

function fromView(name: ColumnName, read: (view: AnswerView) => string | null): Column {
  return { name, type: 'text', cell: (view) => read(view) ?? '', typed: (view) => read(view) };
}

/** Calls `textOf` for values other than numbers and booleans. */
function typedValue<T>(value: T, textOf: (value: T) => string): TypedCell {
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
  const text = textOf(value);
  if (text === '') return null;
  return /^https?:\/\/\S+$/i.test(text) ? { u: text } : text;
}

function tier(brand: Brand): string | null {
  const score = qualityScoreOf(brand);
  return score === null ? null : qualityTier(score);
}

/** The default columns in their order. */
export const DEFAULT_COLUMNS: readonly Column[] = [
  fromView('status', (view) => view.status),
  fromView('kind', (view) => view.identifier?.kind ?? null),
  fromView('identifier', (view) => view.identifier?.value ?? null),
  fromBrand('name', (brand) => brand.name),
  fromBrand('domain', (brand) => brand.domain),
  fromBrand('quality_score', qualityScoreOf, 'number'),
  fromBrand('quality_tier', tier),
  fromBrand('description', (brand) => brand.description),
  fromBrand('industry', mainIndustry),
  fromBrand('employees', (brand) => brand.company?.employees, 'integer'),
  fromBrand('founded_year', (brand) => brand.company?.foundedYear, 'integer'),
  fromBrand('country', countryOf),
  fromBrand('city', (brand) => locationOf(brand).city),
  fromBrand('logo_url', bestLogo),
  fromBrand('icon_url', bestIcon),
  fromBrand('color', mainColor),
  fromBrand('claimed', (brand) => brand.claimed, 'boolean'),
  fromBrand('is_nsfw', (brand) => brand.isNsfw, 'boolean'),
  fromBrand('id', (brand) => brand.id),
  fromBrand('urn', (brand) => brand.urn),
  fromView('source', (view) => view.source),
  { ...fromView(DUPLICATE_COLUMN, () => null), type: 'integer' },
  {
    ...fromView('fetched_at', (view) => isoTime(view.fetchedAt)),
    type: 'moment',
    typed: ({ fetchedAt }) => (fetchedAt === null ? null : { t: new Date(fetchedAt).toISOString() }),
  },
  fromView('error', (view) => view.error),
];

/** Returns ISO 8601 in UTC. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Types of paths that are not text. */
const PATH_TYPES: Readonly<Record<string, ColumnType>> = {
  qualityScore: 'number',
  'company.employees': 'integer',
  'company.foundedYear': 'integer',
  claimed: 'boolean',
  isNsfw: 'boolean',
};

/** See {@link rowColumnsIn}; only with `--name-column`. */
const NAME_MATCH: Column = { name: 'name_match', type: 'number', cell: () => '', typed: () => null };

/** Fixed columns with any `--fields`, because a later run needs them to read the output. */
const FIRST = ['status', 'identifier'];
const LAST = ['fetched_at', 'error'];

/** Returns the default columns, or those of `fields` (paths may be `+path`) and the fixed ones. */
export function columnsFor(
  fields: readonly string[] | null,
  prefix: string,
  matchesNames = false,
): readonly Column[] {
  if (hasNoColumns(fields)) return [];
  const columns = fields === null ? DEFAULT_COLUMNS : chosenColumns(fields, prefix);
  if (!matchesNames) return columns;
  const duplicateAt = columns.findIndex(({ name }) => name === DUPLICATE_COLUMN);
  return columns.toSpliced(duplicateAt < 0 ? -LAST.length : duplicateAt + 1, 0, NAME_MATCH);
}

/** Returns the columns that differ between rows of an identifier, and where they begin. */
export function rowColumnsIn(columns: readonly Column[]) {
  const names = [DUPLICATE_COLUMN, NAME_MATCH.name];
  const at = columns.findIndex(({ name }) => names.includes(name));
  const own = columns.filter(({ name }) => names.includes(name));
  return {
    at,
    count: own.length,
    valuesOf: (duplicateOf: number | null, nameMatch: number | null) =>
      own.map((column) => (column === NAME_MATCH ? nameMatch : duplicateOf)),
  };
}

function chosenColumns(fields: readonly string[], prefix: string): readonly Column[] {
  const chosen = new Map<string, Column>();
  for (const field of [...FIRST, ...fields]) {
    const column = columnOf(field, prefix);
    if (!LAST.includes(column.name) && !chosen.has(column.name)) chosen.set(column.name, column);
  }
  return [...chosen.values(), ...LAST.flatMap((name) => defaultColumn(name, prefix) ?? [])];
}

/** Returns the default column of this name, or the column of a path. */
export function columnOf(field: string, prefix: string): Column {
  const path = uncheckedPath(field) ?? field;
  return (
    defaultColumn(field, prefix) ?? {
      name: columnOfPath(path),
      type: PATH_TYPES[path] ?? 'text',
      cell: (_view, brand) => fieldAt(brand, path),
      typed: (_view, brand) => typedValue(valueAt(brand, path), () => fieldAt(brand, path)),
    }
  );
}

function defaultColumn(field: string, prefix: string): Column | undefined {
  const name = prefix !== '' && field.startsWith(prefix) ? field.slice(prefix.length) : field;
  return DEFAULT_COLUMNS.find((column) => column.name === name);
}
