/** Renders records as text: the user's columns or object unchanged, then our columns or key. */
import { qualityScoreOf } from '../../brand-api/brand.js';
import { addMember } from '../../core/json-text.js';
import { isJson, isTyped, jsonKey, uniqueNames } from '../../core/table.js';
import { shortName } from '../../core/terminal-text.js';
import { jsonOfCell, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { hasNoColumns } from '../../settings/column-value.js';
import { columnsFor, isoTime, RAW_COLUMN, rowColumnsIn } from './columns.js';
import { escapeFormula, escapeRecord, sanitizeCell, splitRecord, writeCells } from './csv-record.js';
import { rawMember, refusal, withoutOurs } from './earlier-key.js';
import { createFiller, fillValuesOf } from './fill.js';
import {
  type AnswerView,
  brandOf,
  doubtOf,
  inOnePiece,
  NOTHING_ASKED,
  type OutputPlan,
  type RenderedAnswer,
  type Renderer,
} from './output-plan.js';
import { createTypedRenderer, formatsOf } from './render-typed.js';
import { rawPositionIn, type UserCells, userCellsOf } from './user-cells.js';

/** Throws ConfigError `column-ours` if our key would overwrite a CSV column in JSON lines. */
export function createRenderer(plan: OutputPlan): Renderer {
  const renderer = isTyped(plan.format)
    ? createTypedRenderer(plan)
    : plan.format === 'csv'
      ? createCsvRenderer(plan)
      : createJsonRenderer(plan);
  const fill = createFiller(plan);
  if (plan.minQuality === null && !plan.matchesNames && fill === null) return renderer;
  return {
    ...renderer,
    answer(view) {
      const doubted = withDoubt(view, plan);
      const answer = renderer.answer(doubted);
      if (view.status !== 'matched') return answer;
      const { name } = plan.matchesNames ? brandOf(view) : {};
      return {
        ...answer,
        ...(typeof name === 'string' && { name }),
        ...(fill !== null && doubted.error === null && { fill: fillValuesOf(view, plan) }),
      };
    },
    row(raw, answer, duplicateOf, nameMatch = null) {
      const filled = fill === null ? raw : fill(raw, answer.fill, nameMatch).raw;
      return renderer.row(filled, answer, duplicateOf, nameMatch);
    },
  };
}

/** Adds the doubt about a low score as an error; the status stays, as the brand may be useful. */
function withDoubt(view: AnswerView, plan: OutputPlan): AnswerView {
  if (view.status !== 'matched' || view.error !== null) return view;
  const error = doubtOf(qualityScoreOf(brandOf(view)), plan);
  return error === null ? view : { ...view, error };
}

function createCsvRenderer(plan: OutputPlan): Renderer {
  // JSON lines have no delimiter.
  const { delimiter: ofInput, lineEnd } = plan.input;
  const delimiter = ofInput || ',';
  const user = createUserPart(plan, delimiter);
  const columns = columnsFor(plan.fields, plan.prefix, plan.matchesNames);
  const ofRow = rowColumnsIn(columns);
  const hasRaw = plan.hasUnreadable || user.carriesRaw;
  const joint = user.width > 0 && columns.length > 0 ? delimiter : '';

  const renderer: Renderer = {
    header() {
      if (!plan.outputHeader) return null;
      const names = columns.map((column) => plan.prefix + column.name);
      if (hasRaw) names.push(plan.prefix + RAW_COLUMN);
      const ours = names.length === 0 ? '' : writeCells(names, delimiter);
      return user.header + (user.width > 0 && names.length > 0 ? delimiter : '') + ours + lineEnd;
    },
    answer(view) {
      const brand = brandOf(view);
      const cells = columns.map((column) =>
        escapeFormula(sanitizeCell(column.cell(view, brand)), plan.escapeFormulas),
      );
      if (ofRow.count === 0) return { before: inOnePiece(joint + writeCells(cells, delimiter)), after: '' };
      const before = joint + writeCells([...cells.slice(0, ofRow.at), ''], delimiter);
      const after = delimiter + writeCells(cells.slice(ofRow.at + ofRow.count), delimiter);
      return { before: inOnePiece(before), after: inOnePiece(after) };
    },
    row(raw, answer, duplicateOf, nameMatch = null) {
      const own = ofRow.valuesOf(duplicateOf, nameMatch).join(delimiter);
      const [record, carried] = user.read(raw);
      const last = hasRaw ? delimiter + carried : '';
      return `${record}${answer.before}${own}${answer.after}${last}${lineEnd}`;
    },
    unreadable(raw, reason) {
      if (!hasRaw) throw new Error('an unreadable row in an output that was planned without any');
      const { before, after } = renderer.answer({ ...NOTHING_ASKED, error: reason });
      const own = ofRow.valuesOf(null, null).join(delimiter);
      const cell = writeCells([escapeFormula(raw, plan.escapeFormulas, true)], delimiter);
      const blanks = delimiter.repeat(Math.max(0, user.width - 1));
      return `${blanks}${before}${own}${after}${delimiter}${cell}${lineEnd}`;
    },
  };
  return renderer;
}

interface UserPart extends Pick<UserCells, 'carriesRaw'> {
  readonly width: number;
  readonly header: string;
  /** Returns the record without line end, and the quoted cell for the text that it carries. */
  read(raw: string): readonly [record: string, carried: string];
}

function createUserPart(plan: OutputPlan, delimiter: string): UserPart {
  const part = plan.input.format === 'csv' ? fromCsv(plan, delimiter) : fromCells(plan, delimiter);
  if (plan.escapeFormulas !== 'all') return part;
  const escaped = (text: string) => escapeRecord(text, delimiter);
  return {
    ...part,
    header: escaped(part.header),
    read(raw) {
      const [record, carried] = part.read(raw);
      return [escaped(record), escaped(carried)];
    },
  };
}

function fromCsv(plan: OutputPlan, delimiter: string): UserPart {
  const { columns, rawHeader } = plan.input;
  const cut = new Set(plan.replacedColumns);
  const rawPosition = rawPositionIn(plan);
  const { hasSurplus, hasShort } = plan;
  const read = (raw: string) => {
    if (cut.size === 0 && !hasSurplus && !hasShort) return [raw, ''] as const;
    const cells = splitRecord(raw, delimiter);
    // Our cells must stand under our headers.
    while (cells.length < columns.length) cells.push('');
    const kept = cells.filter((_cell, at) => at < columns.length && !cut.has(at));
    const carried = cells.length > columns.length ? writeCells([raw], delimiter) : (cells[rawPosition] ?? '');
    return [kept.join(delimiter), carried] as const;
  };
  return {
    width: columns.length - cut.size,
    header: rawHeader === null ? writeCells(columns, delimiter) : read(rawHeader)[0],
    carriesRaw: rawPosition >= 0 || hasSurplus,
    read,
  };
}

function fromCells(plan: OutputPlan, delimiter: string): UserPart {
  const user = userCellsOf(plan);
  const formats = formatsOf(plan.input);
  const write = (cells: readonly TypedCell[]) =>
    writeCells(
      cells.map((cell) => textOfCell(cell, formats)),
      delimiter,
    );
  return {
    width: user.kept.length,
    header: write(user.header),
    carriesRaw: user.carriesRaw,
    read(raw) {
      const { cells, carried } = user.read(raw);
      return [write(cells), carried === '' ? '' : writeCells([carried], delimiter)];
    },
  };
}

/** The user's object, and the unreadable text of an earlier run as JSON. */
type Base = Pick<ReturnType<typeof withoutOurs>, 'line' | 'carried'>;

function createJsonRenderer(plan: OutputPlan): Renderer {
  const key = jsonKey(plan.prefix);
  const lineEnd = plan.input.lineEnd === '\r\n' ? '\r\n' : '\n';
  const baseOf = isJson(plan.input.format)
    ? objectAsItStood(key, plan.format === 'jsonl')
    : objectFromCells(plan, key);

  function member(view: AnswerView): RenderedAnswer {
    const ours = {
      status: view.status,
      kind: view.identifier?.kind ?? null,
      identifier: view.identifier?.value ?? null,
      source: view.source,
      fetchedAt: isoTime(view.fetchedAt),
      error: view.error,
    };
    // A profile may be pretty-printed, and valid JSON has line breaks only between its tokens.
    const profile = view.profile === null ? 'null' : view.profile.replace(/[\r\n]+/g, '');
    const before = `${JSON.stringify(key)}:${JSON.stringify(ours).slice(0, -1)}`;
    return { before: inOnePiece(before), after: inOnePiece(`,"profile":${profile}}`) };
  }

  function whole({ before, after }: RenderedAnswer, nameMatch: number | null): string {
    return before + (plan.matchesNames ? `,"nameMatch":${nameMatch}` : '') + after;
  }

  function spliced({ line, carried }: Base, ours: string): string {
    if (hasNoColumns(plan.fields) && carried === null) return line + lineEnd;
    const whole = carried === null ? ours : addMember(ours, rawMember(carried));
    const added = whole === null ? null : addMember(line, whole);
    return (added ?? unread(line, ours)) + lineEnd;
  }

  function unread(raw: string, ours: string): string {
    return `{${addMember(ours, rawMember(JSON.stringify(raw)))}}`;
  }

  return {
    header: () => null,
    answer: member,
    row: (raw, answer, _duplicateOf, nameMatch = null) => spliced(baseOf(raw), whole(answer, nameMatch)),
    unreadable: (raw, reason) =>
      unread(raw, whole(member({ ...NOTHING_ASKED, error: reason }), null)) + lineEnd,
  };
}

/** Parses only lines that contain the key, or an escape that could spell it. */
function objectAsItStood(key: string, isOneLine: boolean): (raw: string) => Base {
  const quoted = JSON.stringify(key);
  return (raw) => {
    // Valid JSON has line breaks only between its tokens.
    const isBroken = isOneLine && /[\r\n]/.test(raw);
    const text = isBroken ? raw.replace(/\s+/g, (blanks) => (/[\r\n]/.test(blanks) ? '' : blanks)) : raw;
    const mayBeOurs = text.includes(quoted) || text.includes('\\u');
    return mayBeOurs ? withoutOurs(text, key) : { line: text, carried: null };
  };
}

/** Makes objects of cells: dates become text. Throws as {@link createRenderer} does. */
function objectFromCells(plan: OutputPlan, key: string): (raw: string) => Base {
  const user = userCellsOf(plan);
  const formats = formatsOf(plan.input);
  const keys = uniqueNames(plan.allColumns, user.kept);
  if (keys.includes(key)) throw refusal(`the column "${shortName(key)}"`);
  const heads = keys.map((name) => `${JSON.stringify(name)}:`);
  return (raw) => {
    const { cells, carried } = user.read(raw);
    const members = cells.map((cell, i) => heads[i] + jsonOfCell(cell, formats));
    return { line: `{${members.join(',')}}`, carried: carried === '' ? null : JSON.stringify(carried) };
  };
}
