import { expect, it } from 'vitest';
import { type RowReason, readRowReason, sayRowReason, writeRowReason } from '../../src/core/row-reason.js';

it.each<[RowReason, string]>([
  [{ code: 'text_after_quote' }, 'text after the closing quote of a cell'],
  [{ code: 'open_quote', cellLine: 7 }, 'a quoted cell is never closed (the cell starts on line 7)'],
  [
    { code: 'many_line_breaks', most: 100, cellLine: 7 },
    'a quoted cell has more than 100 line breaks (the cell starts on line 7)',
  ],
  [{ code: 'long_cell', most: 32_767 }, 'a cell has more than 32,767 characters; only its beginning is kept'],
  [{ code: 'not_json', place: 'line' }, 'the line is not valid JSON'],
  [{ code: 'not_object', place: 'element' }, 'the element is not a JSON object'],
  [{ code: 'cell_count', cells: 1, columns: 3 }, '1 cell instead of 3'],
  [{ code: 'cell_count', cells: 4, columns: 3 }, '4 cells instead of 3'],
  [{ code: 'blank_column', cell: 2 }, 'cell 2 has a value, but its column is blank'],
  [{ code: 'unread_earlier' }, 'an earlier run could not read this row'],
  [{ code: 'unread_earlier', text: 'line 3: half \ud83e' }, 'line 3: half \ud83e'],
])('%j', (reason, sentence) => {
  expect(sayRowReason(readRowReason(writeRowReason(reason)))).toBe(sentence);
});
