/** Reads the rows of a result for its page, the doubtful ones first. */
import { join } from 'node:path';
import pLimit from 'p-limit';
import { qualityTier } from '../brand-api/brand.js';
import { createTurns } from '../core/lifecycle.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from '../core/outcome.js';
import { openInput } from '../input/open-input.js';
import type { FoundFile } from '../jobs/find-files.js';
import { LOW_NAME_MATCH, matchNames } from '../run/output/name-match.js';

/** A row of the user's file beside its brand. Texts are empty where the result has none. */
export type ResultRow = NonNullable<ReturnType<NonNullable<ReturnType<typeof rowReader>>>>;

/** A page of the rows with a status, or of all rows. */
export interface RowsAsked {
  readonly status: OutcomeStatus | null;
  /** From 1. */
  readonly page: number;
}

export const ROWS_ON_PAGE = 50;
/** The most rows that a person can page through. */
const ROWS_KEPT = 1_000;
const BYTES_AT_MOST = 64 * 1024 * 1024;
const READ_MS = 3_000;
const TEXT_AT_MOST = 100;
const CACHED = 8;

/** How a run writes its result. */
const WRITTEN = { encoding: 'utf-8', header: true, skipLines: 0, ragged: 'take', limit: null } as const;
const DETECTED = { delimiter: null, records: null, sheet: null } as const;

export function rowsAsked(query: URLSearchParams): RowsAsked {
  const status = OUTCOME_STATUSES.find((each) => each === query.get('status')) ?? null;
  const page = Number(query.get('page'));
  const isPage = Number.isInteger(page) && page >= 1 && page <= ROWS_KEPT / ROWS_ON_PAGE;
  return { status, page: isPage ? page : 1 };
}

export type ResultRows = ReturnType<typeof createResultRows>;

/** Reads one result at a time and remembers the last ones. `spoolFolder`: for parts of archives. */
export function createResultRows(spoolFolder: () => Promise<string>, stop: AbortSignal) {
  const limit = pLimit(1);
  const known = new Map<string, Promise<readonly ResultRow[] | null>>();

  /** Returns the rows with a status, or null if they cannot be shown. */
  function read({ folder, files, place, id, waitsFor }: FoundFile, status: RowsAsked['status']) {
    const result = files.find(({ type }) => type === 'output' || type === 'partial');
    if (result === undefined || place === 'processing' || result.size > BYTES_AT_MOST) return null;
    const key = [id, folder, result.name, result.size, status].join('\n');
    const found =
      known.get(key) ?? limit(() => readRows(join(folder, result.name), status, waitsFor === 'tried'));
    // Set again, so that the map stays in the order of use.
    known.delete(key);
    known.set(key, found);
    const oldest = known.keys().next();
    if (known.size > CACHED && !oldest.done) known.delete(oldest.value);
    return found;
  }

  async function readRows(path: string, status: RowsAsked['status'], isTrial: boolean) {
    const within = AbortSignal.any([stop, AbortSignal.timeout(READ_MS)]);
    const opening = { only: 'own file', spoolFolder: await spoolFolder(), stop: within } as const;
    try {
      const input = await openInput(path, { ...WRITTEN, ...DETECTED }, opening);
      try {
        return await firstRows(input.shape.columns, input.rows(), status, isTrial);
      } finally {
        await input.close();
      }
    } catch {
      // Others may have changed the file. It can still be downloaded.
      return null;
    }
  }

  return { read };
}

type Batches = AsyncIterable<readonly { readonly cells: readonly string[] }[]>;

async function firstRows(
  columns: readonly string[],
  batches: Batches,
  status: RowsAsked['status'],
  isTrial: boolean,
) {
  const rowOf = rowReader(columns);
  if (rowOf === null) return null;
  let rows: ResultRow[] = [];
  const turns = createTurns();
  for await (const batch of batches) {
    for (const { cells } of batch) {
      if (turns.isOver()) await turns.next();
      const row = rowOf(cells);
      if (row !== null && (status === null || row.status === status)) rows.push(row);
    }
    if (rows.length > 4 * ROWS_KEPT) rows = doubtfulFirst(rows, isTrial);
  }
  return doubtfulFirst(rows, isTrial);
}

/** Sorts rows: what a trial did not find, doubtful brands, poor ones, all others. Pure. */
export function doubtfulFirst(rows: readonly ResultRow[], isTrial: boolean): ResultRow[] {
  const placeOf = ({ status, fits, score }: ResultRow) => {
    if (isTrial && status === 'not_found') return 0;
    if (fits === false) return 1;
    return score !== null && qualityTier(score) === 'poor' ? 2 : 3;
  };
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, ROWS_KEPT);
}

/**
 * Returns the reader of a result's cells, or null if these are not the columns of a result. Members
 * of objects in JSON are columns: `brand.profile.name`. Pure.
 */
export function rowReader(columns: readonly string[]) {
  const mark = columns.find(
    (name) => name.endsWith('status') && columns.includes(name.replace(/status$/, 'identifier')),
  );
  if (mark === undefined) return null;
  const prefix = mark.slice(0, -'status'.length);
  const cellOf = (...names: readonly string[]) => {
    const at = columns.findIndex((name) => names.some((each) => name === prefix + each));
    return (cells: readonly string[]) => (cells[at] ?? '').trim().slice(0, TEXT_AT_MOST);
  };
  const status = cellOf('status');
  const [kind, identifier, error] = [cellOf('kind'), cellOf('identifier'), cellOf('error')];
  const [brand, domain] = [cellOf('name', 'profile.name'), cellOf('domain', 'profile.domain')];
  const score = cellOf('quality_score', 'profile.qualityScore');
  const [match, color] = [cellOf('name_match', 'nameMatch'), cellOf('color')];
  const isOurs = (name: string) => prefix !== '' && name.startsWith(prefix.replace(/\.$/, ''));
  const named = columns.findIndex((name) => !isOurs(name) && NAME.test(name));
  const own = named < 0 ? columns.findIndex((name) => !isOurs(name)) : named;
  return (cells: readonly string[]) => {
    const outcome = OUTCOME_STATUSES.find((each) => each === status(cells));
    if (outcome === undefined) return null;
    const row = {
      /** The user's name for the company, else the first cell. */
      own: (cells[own] ?? '').trim().slice(0, TEXT_AT_MOST),
      status: outcome,
      identifier: identifier(cells),
      brand: brand(cells),
      domain: domain(cells),
      /** 0 to 1; null without one. */
      score: numberOf(score(cells)),
      color: color(cells),
      /** Why there is no brand. */
      error: error(cells),
    };
    const seen = { kind: kind(cells), match: numberOf(match(cells)), isNamed: named >= 0 };
    /** Whether the brand is the row's company, or null if nothing shows that. */
    return { ...row, fits: fitOf(row, seen) };
  };
}

/** Usual names of the column with companies. */
const NAME = /name|company|firm|unternehmen|bezeichnung|soci[eé]t[eé]|empresa|azienda|organi[sz]ation/i;

/** Judges by the run's comparison of names, else by the site, else by the names. */
function fitOf(
  row: Record<'own' | 'identifier' | 'brand' | 'domain' | 'status', string>,
  { kind, match, isNamed }: { kind: string; match: number | null; isNamed: boolean },
): boolean | null {
  const { own, status, identifier, brand, domain } = row;
  if (status !== 'matched') return null;
  if (match !== null) return match >= LOW_NAME_MATCH;
  const isOwnSite = `.${identifier}`.endsWith(`.${domain}`) || `.${domain}`.endsWith(`.${identifier}`);
  if (kind === 'domain' && domain !== '' && isOwnSite) return true;
  const alike = isNamed ? matchNames(own, brand) : null;
  return alike === null ? null : alike >= LOW_NAME_MATCH;
}

function numberOf(text: string): number | null {
  const value = Number(text);
  return text === '' || !Number.isFinite(value) ? null : value;
}
