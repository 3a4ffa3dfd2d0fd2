/** The first pass: reads all input before any spending, stores rows and numbers identifiers. */
import { Counter } from '../../core/counter.js';
import { type IdentifierKind, identifierText } from '../../core/identifier.js';
import { createTurns, type Releasers } from '../../core/lifecycle.js';
import { type RowReason, sayRowReason, writeRowReason } from '../../core/row-reason.js';
import { isJson, jsonKey, type Row } from '../../core/table.js';
import type { OpeningOptions } from '../../input/byte-source.js';
import { identifyRow } from '../../input/identify/identify-cell.js';
import type { Input } from '../../input/input.js';
import { readTable, type Table, type TableSettings } from '../../input/read-table.js';
import type { Settings } from '../../settings/settings.js';
import { Answers } from '../lookups/answers.js';
import { earlierCells, earlierKey } from '../output/earlier-key.js';
import { IdentifierSpool } from './identifier-spool.js';
import { Priorities } from './priorities.js';
import { candidatesOf, type ListedRow, listRow, RowSpool } from './row-spool.js';
import { openSpoolFolder, SpoolFile } from './spool-file.js';

/** Opens the input, unless `opened`, and scans it. `releasers` close it. Throws as both do. */
export async function openAndScan(
  request: ScanRequest,
  opened: Table | null | undefined,
  { stop, onRows }: Pick<ScanOptions, 'onRows'> & { readonly stop: AbortSignal },
  releasers: Releasers,
): Promise<{ readonly folder: string; readonly input: Input; readonly scan: Scan }> {
  const { input: path, settings, stdin, only } = request;
  const folder = await openSpoolFolder(request.stateFolder);
  const table = opened ?? (await readTable(path, settings, { stdin, only, spoolFolder: folder, stop }));
  const { input } = table;
  releasers.push(() => input.close());
  const scan = await scanInput(table, settings, { folder, onRows }, releasers);
  return { folder, input, scan };
}

export interface ScanRequest extends Pick<OpeningOptions, 'only'> {
  /** A path, or `-` for standard input. */
  readonly input: string;
  readonly stdin: NodeJS.ReadableStream | null;
  readonly settings: TableSettings & Pick<Settings, 'waterfall'>;
  readonly stateFolder: string;
}

export interface ScanOptions {
  readonly folder: string;
  /** Called between batches with the rows read so far. */
  readonly onRows: (rows: number) => void;
}

/** The facts about the input after the scan. */
export type Scan = Readonly<Awaited<ReturnType<typeof scanInput>>>;

const KNOWN_CELLS = 65_536;
const NAME_CHARS = 200;
const REASONS_AT_MOST = 1_000;
const EXAMPLES_AT_MOST = 5;

/** Reads all rows and wants each one's first candidate. Throws what reading throws. */
export async function scanInput(
  { input, choice: { chosen, filter, nameAt, priorityAt, wanted: wantedColumns } }: Table,
  { waterfall, prefix, priority }: Pick<Settings, 'waterfall' | 'prefix' | 'priority'>,
  { folder, onRows }: ScanOptions,
  releasers: Releasers,
) {
  const { shape } = input;
  const priorities =
    priorityAt === null ? null : new Priorities(shape.columns, priorityAt, priority?.direction ?? 'desc');
  const earlierProblem = isJson(shape.format)
    ? earlierKey(jsonKey(prefix))
    : earlierCells(shape.columns, chosen.ours, prefix);
  const openFile = (name: string) => {
    const file = new SpoolFile(folder, name, input.name);
    releasers.push(() => file.close());
    return file;
  };
  const rows = new RowSpool(openFile('rows'));
  const identifiers = new IdentifierSpool(openFile('identifiers'));
  const answers = new Answers(openFile('answers'));
  const counts = {
    /** Rows that meet `--where`, those without an identifier included. */
    selected: 0,
    asked: 0,
    invalid: 0,
    skipped: 0,
    unreadable: 0,
    /** Rows whose first identifier an earlier row had. */
    duplicates: 0,
    /** Unreadable rows with too few or too many cells. */
    misfits: 0,
    /** Rows read despite missing last cells (`short`) or surplus cells (`long`). */
    short: 0,
    long: 0,
  };
  const byKind = new Map<IdentifierKind, number>();
  /** Rows by their reasons; unreadable rows count as invalid. */
  const reasons = {
    invalid: new Counter<RowReason>(REASONS_AT_MOST),
    skipped: new Counter<RowReason>(REASONS_AT_MOST),
  };
  const invalid: ListedRow<RowReason>[] = [];

  const addExcluded = (
    kind: 'invalid' | 'skipped' | 'unreadable',
    { line, raw }: Pick<Row, 'line' | 'raw'>,
    reason: RowReason,
    cell: string,
  ) => {
    counts[kind] += 1;
    const json = writeRowReason(reason);
    rows.add(line, kind, [], json, raw);
    if (kind === 'skipped') return reasons.skipped.add(reason, json);
    // One reason for all of these: their texts name lines of an earlier file.
    const isEarlier = reason.code === 'unread_earlier';
    const cause: RowReason = isEarlier ? { code: reason.code } : reason;
    reasons.invalid.add(cause, isEarlier ? undefined : json);
    listRow(invalid, { line, reason: cause, value: () => cell });
  };

  let severalFrom: number | null = null;
  const knownCells = new Map<string, number>();
  const onlyColumn = chosen.choices.length === 1 ? (chosen.choices[0]?.column ?? null) : null;
  const turns = createTurns();
  for await (const batch of input.rows(wantedColumns)) {
    for (const row of batch) {
      if (turns.isOver()) await turns.next();
      const { cells, line, problem } = row;
      if (problem !== null) {
        if (row.isMisfit) counts.misfits += 1;
        addExcluded('unreadable', row, problem, row.raw);
        continue;
      }
      const { raw, shortBy = 0, surplus = 0 } = row;
      if (shortBy > 0) counts.short += 1;
      if (surplus > 0) counts.long += 1;
      // Throws before anything is spent if the user's own value has our key.
      const earlier = earlierProblem(row);
      const unselected = earlier === null ? filter.reasonAgainst(cells) : null;
      if (unselected !== null) {
        addExcluded('skipped', { line, raw }, unselected, '');
        continue;
      }
      if (earlier === null) counts.selected += 1;
      const name = nameAt === null ? '' : (cells[nameAt] ?? '').slice(0, NAME_CHARS);
      // Parses a repeated cell only once, because most long files repeat themselves.
      const cell = onlyColumn === null ? undefined : cells[onlyColumn];
      const knownIndex = cell === undefined ? undefined : knownCells.get(cell);
      const notePriority = (index: number) => priorities?.note(index, cells[priorityAt ?? -1] ?? '', line);
      if (knownIndex !== undefined) {
        counts.asked += 1;
        counts.duplicates += 1;
        notePriority(knownIndex);
        rows.add(line, 'asked', [knownIndex], name, raw);
        continue;
      }
      const identified = identifyRow(cells, chosen.choices);
      const [first] = identified.identifiers;
      if (identified.hasSeveral) severalFrom ??= line;
      if (first === undefined) {
        const { otherwise, cell } = identified;
        const { type, reason } = earlier === null ? otherwise : { type: 'invalid' as const, reason: earlier };
        addExcluded(type, { line, raw }, reason, cell);
        continue;
      }
      counts.asked += 1;
      const candidates = (waterfall ? identified.identifiers : [first]).map((identifier) =>
        identifiers.add(identifierText(identifier)),
      );
      for (const candidate of candidates) notePriority(candidate);
      const [wanted = 0] = candidates;
      if (answers.want(wanted)) byKind.set(first.kind, (byKind.get(first.kind) ?? 0) + 1);
      else counts.duplicates += 1;
      rows.add(line, 'asked', candidates, name, raw);
      // A copy, because a slice would keep its whole chunk of the file in memory.
      if (cell !== undefined && knownCells.size < KNOWN_CELLS)
        knownCells.set(Buffer.from(cell).toString(), wanted);
    }
    onRows(rows.count);
  }
  if (severalFrom !== null)
    input.warnings.push(`several domains in a cell (first in line ${severalFrom}): the first is looked up`);
  return {
    chosen,
    priorities,
    filter,
    /** The column of the names to compare; null without one. */
    nameColumn: nameAt === null ? null : (shape.columns[nameAt] ?? ''),
    rows,
    identifiers,
    answers,
    counts,
    byKind,
    reasons,
    invalid,
    ...input.content(),
  };
}

/** Returns the facts of the input for documents. */
export function inputFacts(
  input: { readonly name: string; readonly detected: string; readonly warnings: readonly string[] },
  scan: Scan,
) {
  const { counts, contentHash: sha256, rows, chosen, invalid, filter } = scan;
  const { unreadable, misfits, short, long } = counts;
  const columns = chosen.choices.map(({ name, kind }) => ({ name, kind }));
  const examples = invalid
    .slice(0, EXAMPLES_AT_MOST)
    .map(({ line, reason }) => ({ line, reason: sayRowReason(reason) }));
  const where = filter.texts.length === 0 ? null : { conditions: filter.texts, rows: counts.selected };
  return {
    ...input,
    sha256,
    records: rows.count,
    columns,
    where,
    unreadable,
    misfits,
    short,
    long,
    examples,
  };
}

/** Wants the next candidates of rows whose last one was not found; returns how many are new. */
export function wantNextCandidates({ answers, rows }: Pick<Scan, 'answers' | 'rows'>): number {
  const before = answers.wanted;
  for (const batch of rows.records()) {
    for (const record of batch) {
      const candidates = candidatesOf(record);
      if (candidates.length < 2) continue;
      for (const candidate of candidates) {
        answers.want(candidate);
        if (answers.status(candidate) !== 'not_found') break;
      }
    }
  }
  return answers.wanted - before;
}
