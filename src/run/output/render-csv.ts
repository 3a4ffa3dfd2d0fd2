/**
 * CSV output: the user's columns as they stood, then ours. What stands in our cells is `columns.ts`'s, what of the
 * record is the user's `user-part.ts`'s.
 */
import type { Brand } from '../../lookup/brand.js';
import { isObject } from './brand-assets.js';
import { columnsFor, DUPLICATE_COLUMN, RAW_COLUMN } from './columns.js';
import { tameCell, writeCells } from './csv-record.js';
import { defuse } from './formulas.js';
import { type AnswerView, inOnePiece, NOTHING_ASKED, type OutputPlan, type Renderer } from './output-plan.js';
import { createUserPart } from './user-part.js';

export function createCsvRenderer(plan: OutputPlan): Renderer {
  const delimiter = plan.input.format === 'csv' ? plan.input.delimiter : (plan.delimiter ?? ',');
  const { lineEnd } = plan.input;
  const user = createUserPart(plan, delimiter);
  const columns = columnsFor(plan.fields, plan.prefix);
  const duplicateAt = columns.findIndex((column) => column.name === DUPLICATE_COLUMN);
  const hasRaw = plan.hasUnreadable || user.carriesRaw;
  const joint = user.width > 0 ? delimiter : '';

  const renderer: Renderer = {
    header() {
      if (user.header === null) return null;
      const names = columns.map((column) => plan.prefix + column.name);
      if (hasRaw) names.push(plan.prefix + RAW_COLUMN);
      return user.header + joint + writeCells(names, delimiter) + lineEnd;
    },
    answer(view) {
      const brand = brandOf(view);
      const cells = columns.map((column) => defuse(tameCell(column.cell(view, brand)), plan.escapeFormulas));
      if (duplicateAt < 0) return { before: inOnePiece(joint + writeCells(cells, delimiter)), after: '' };
      const before = joint + writeCells([...cells.slice(0, duplicateAt), ''], delimiter);
      const after = delimiter + writeCells(cells.slice(duplicateAt + 1), delimiter);
      return { before: inOnePiece(before), after: inOnePiece(after) };
    },
    row(raw, answer, duplicateOf) {
      const duplicate = duplicateAt < 0 || duplicateOf === null ? '' : duplicateOf;
      const carried = hasRaw ? delimiter + user.carried(raw) : '';
      return `${user.record(raw)}${answer.before}${duplicate}${answer.after}${carried}${lineEnd}`;
    },
    unreadable(raw, reason) {
      if (!hasRaw) throw new Error('an unreadable row in an output that was planned without any');
      const { before, after } = renderer.answer({ ...NOTHING_ASKED, error: reason });
      const cell = writeCells([defuse(raw, plan.escapeFormulas, true)], delimiter);
      return `${delimiter.repeat(Math.max(0, user.width - 1))}${before}${after}${delimiter}${cell}${lineEnd}`;
    },
  };
  return renderer;
}

function brandOf(view: AnswerView): Brand {
  if (view.brand) return view.brand;
  if (view.profile === null) return {};
  const parsed: unknown = JSON.parse(view.profile);
  return isObject(parsed) ? parsed : {};
}
