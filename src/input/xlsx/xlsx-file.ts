/** Writes a workbook of one sheet (ECMA-376, 18), without shared texts, which would fill memory. */
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { ConfigError } from '../../core/errors.js';
import { countText } from '../../core/figures.js';
import { phrase } from '../../core/phrase.js';
import { shortName } from '../../core/terminal-text.js';
import {
  BUILT_IN_FORMATS,
  type CellFormats,
  NO_FORMATS,
  readTyped,
  serialOfIso,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import { LAST_SHEET_COLUMN, LAST_SHEET_ROW } from './sheet-rows.js';

export interface SheetPlan {
  readonly formats: CellFormats;
  /** True if the input is a sheet, whose numbers stay as they are. */
  readonly isFromSheet: boolean;
  readonly sheetName: string;
  readonly hasHeader: boolean;
}

export const SHEET_PART = 'xl/worksheets/sheet1.xml';
const GATHER = 128 * 1024;
/** The rows that determine the widths of columns. */
const ROWS_MEASURED = 200;
/** Fixed, so that the same rows give the same bytes. */
const MTIME = new Date(2000, 0, 1);

/** Characters in a cell (Excel specifications and limits). */
export const LONGEST_TEXT = 32_767;

interface SheetSize {
  /** With the header. */
  readonly rows: number;
  readonly columns: number;
  /** The first of the user's cells with more than {@link LONGEST_TEXT}, or null. */
  readonly longCell: { readonly line: number; readonly column: string; readonly length: number } | null;
}

/** Throws ConfigError `usage-invalid` beyond the limits of a sheet. */
export function assertFitsSheet(path: string, { rows, columns, longCell }: SheetSize): void {
  const refuse = (most: string, size: string, otherwise: string) => {
    const another = phrase`choose another format, for example ${{ set: { output: 'enriched.csv' } }}`;
    const todo = phrase`${another}, or ${otherwise}; nothing was spent`;
    return new ConfigError({ code: 'usage-invalid', what: `a ${most}`, subject: `${path} (${size})`, todo });
  };
  const split = 'split the input';
  if (rows > LAST_SHEET_ROW)
    throw refuse('sheet has at most 1,048,576 rows', `${countText(rows)}, header included`, split);
  if (columns > LAST_SHEET_COLUMN)
    throw refuse('sheet has at most 16,384 columns', countText(columns), split);
  if (longCell === null) return;
  const { line, column, length } = longCell;
  const size = `"${shortName(column)}" in line ${line} has ${countText(length)}`;
  const most = countText(LONGEST_TEXT);
  throw refuse(`cell of a sheet has at most ${most} characters`, size, 'shorten the cell');
}

/** Writes records of `TypedCell`s as bytes to `output`. Rejects with the errors of `output`. */
export function createXlsxFile(output: (bytes: Buffer) => Promise<void>, plan: SheetPlan) {
  const styles = createStyles(plan);
  const sheet = new PassThrough({ highWaterMark: 1 << 18 });
  const zip = new ZipFile();
  const bytes = zip.outputStream as Readable;
  const options = { mtime: MTIME, forceDosTimestamp: true };
  const add = (path: string, xml: string) => zip.addBuffer(Buffer.from(DECLARATION + xml), path, options);
  add('[Content_Types].xml', CONTENT_TYPES);
  add('_rels/.rels', relationships([['officeDocument', 'xl/workbook.xml']]));
  add('xl/workbook.xml', workbookXml(plan));
  const parts = [
    ['worksheet', 'worksheets/sheet1.xml'],
    ['styles', 'styles.xml'],
  ] as const;
  add('xl/_rels/workbook.xml.rels', relationships(parts));
  add('xl/styles.xml', styles.xml);
  zip.addReadStream(sheet, SHEET_PART, options);
  zip.end();

  const pump = async () => {
    for await (const chunk of bytes) await output(Buffer.from(chunk));
  };
  const pumping = pump().catch((error: unknown) => {
    sheet.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  });
  pumping.catch(() => undefined);
  // After an error the archive would wait for its parts forever.
  zip.on('error', (error) => bytes.destroy(error));
  sheet.on('error', () => undefined);

  const first: (readonly TypedCell[])[] = [];
  let gathered = '';
  let hasBegun = false;
  let count = 0;
  let widest = 1;

  /** Sends large pieces: each is a task of the compressor, and few tasks take half the time. */
  async function send(xml: string, isLast = false): Promise<void> {
    gathered += xml;
    if (gathered.length < GATHER && !isLast) return;
    const piece = gathered;
    gathered = '';
    // The error of the pump is the cause of every failure here.
    if (sheet.destroyed) await pumping;
    if (!sheet.write(piece)) await once(sheet, 'drain').catch(() => pumping);
  }

  async function begin(): Promise<void> {
    hasBegun = true;
    await send(DECLARATION + sheetStart(first, plan));
    for (const cells of first) await send(rowXml(cells));
  }

  function rowXml(cells: readonly TypedCell[]): string {
    count += 1;
    widest = Math.max(widest, cells.length);
    const isHeader = plan.hasHeader && count === 1;
    const xml = cells.map((cell, at) => styles.cell(`${letters(at)}${count}`, cell, isHeader));
    return `<row r="${count}">${xml.join('')}</row>`;
  }

  return {
    async write(record: string): Promise<void> {
      const cells = readTyped(record);
      if (hasBegun) return send(rowXml(cells));
      first.push(cells);
      if (first.length === ROWS_MEASURED) await begin();
    },
    /** Sends the rest. Nothing may be written afterwards. */
    async finish(): Promise<void> {
      if (!hasBegun) await begin();
      const filter = plan.hasHeader ? `<autoFilter ref="A1:${letters(widest - 1)}${count}"/>` : '';
      await send(`</sheetData>${filter}</worksheet>`, true);
      sheet.end();
      await pumping;
    },
    /** Stops without sending the rest; does nothing after `finish`. */
    async discard(): Promise<void> {
      sheet.destroy();
      bytes.destroy();
      await pumping.catch(() => undefined);
    },
  };
}

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const CONTENT_TYPES =
  `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ` +
  'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ' +
  'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ' +
  `ContentType="${SPREADSHEET}.sheet.main+xml"/><Override PartName="/${SHEET_PART}" ` +
  `ContentType="${SPREADSHEET}.worksheet+xml"/><Override PartName="/xl/styles.xml" ` +
  `ContentType="${SPREADSHEET}.styles+xml"/></Types>`;

function relationships(parts: readonly (readonly [kind: string, target: string])[]): string {
  const each = parts.map(
    ([kind, target], at) => `<Relationship Id="rId${at + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}</Relationships>`;
}

function workbookXml({ formats, sheetName }: SheetPlan): string {
  const first = formats.is1904 ? '<workbookPr date1904="1"/>' : '';
  // Excel refuses other characters, and longer names.
  const allowed = sheetName.replace(/[[\]:*?/\\]|^'|'$/g, ' ');
  const name = allowed.slice(0, 31).trim() || 'Sheet1';
  return (
    `<workbook ${MAIN} xmlns:r="${OFFICE}">${first}<sheets><sheet name="${escapeXml(name)}" ` +
    'sheetId="1" r:id="rId1"/></sheets></workbook>'
  );
}

const LEAST_WIDTH = 8;
const MOST_WIDTH = 50;

function sheetStart(first: readonly (readonly TypedCell[])[], { formats, hasHeader }: SheetPlan): string {
  const widths: number[] = [];
  for (const cells of first) {
    for (const [at, cell] of cells.entries()) {
      const lines = textOfCell(cell, formats).split('\n', 20);
      // Room for the filter arrow and the padding.
      const length = Math.max(...lines.map((line) => line.length)) + 2;
      widths[at] = Math.min(MOST_WIDTH, Math.max(widths[at] ?? LEAST_WIDTH, length));
    }
  }
  const cols = widths.map(
    (width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`,
  );
  const frozen = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const view = `<sheetView workbookViewId="0">${hasHeader ? frozen : ''}</sheetView>`;
  const widthsXml = cols.length > 0 ? `<cols>${cols.join('')}</cols>` : '';
  return `<worksheet ${MAIN}><sheetViews>${view}</sheetViews>${widthsXml}<sheetData>`;
}

const MOMENT_FORMAT = 'yyyy-mm-dd hh:mm:ss';
const DAY_FORMAT = 'yyyy-mm-dd';
const LONGEST_LINK = 255;
/** Makes cell styles: one for each number format of the input, then those of our cells. */
function createStyles({ formats: { codes, is1904 }, isFromSheet }: SheetPlan) {
  const all = [...codes, MOMENT_FORMAT, DAY_FORMAT];
  const moment = codes.length;
  const day = moment + 1;
  const link = all.length;
  const header = link + 1;
  const ids = new Map(Object.entries(BUILT_IN_FORMATS).map(([id, code]) => [code, Number(id)]));
  ids.set('General', 0);
  const own = [...new Set(all)].filter((code) => !ids.has(code));
  // Numbers below 164 are Excel's own.
  for (const [at, code] of own.entries()) ids.set(code, 164 + at);
  const numFmts = own.map((code) => `<numFmt numFmtId="${ids.get(code)}" formatCode="${escapeXml(code)}"/>`);
  const xfs = [
    ...all.map(
      (code) =>
        `<xf numFmtId="${ids.get(code)}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
    ),
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>',
    '<xf numFmtId="0" fontId="2" fillId="0" borderId="0" xfId="0" applyFont="1"/>',
  ];
  const font = (more: string, color = '') =>
    `<font>${more}<sz val="11"/>${color}<name val="Calibri"/></font>`;
  const fonts = font('') + font('<u/>', '<color rgb="FF0563C1"/>') + font('<b/>');
  const formats = own.length > 0 ? `<numFmts count="${own.length}">${numFmts.join('')}</numFmts>` : '';
  const xml =
    `<styleSheet ${MAIN}>${formats}<fonts count="3">${fonts}</fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
    '<fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${xfs.length}">${xfs.join('')}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

  const element = (ref: string, style: number, content: string, type = '') =>
    `<c r="${ref}"${style === 0 ? '' : ` s="${style}"`}${type && ` t="${type}"`}>${content}</c>`;
  const text = (ref: string, value: string, style: number) => {
    // Only a cell of ours can be too long: `assertFitsSheet` checks the user's.
    const short = value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT - 1)}…` : value;
    return element(ref, style, `<is><t xml:space="preserve">${escapeText(short)}</t></is>`, 'inlineStr');
  };

  return {
    xml,
    cell(ref: string, cell: TypedCell, isHeader: boolean): string {
      if (cell === null) return '';
      if (typeof cell === 'string') return text(ref, cell, isHeader ? header : 0);
      if (!isFromSheet && isLongInteger(cell)) return text(ref, textOfCell(cell, NO_FORMATS), 0);
      if (typeof cell === 'number') return element(ref, isHeader ? header : 0, `<v>${cell}</v>`);
      if (typeof cell === 'boolean') return element(ref, 0, `<v>${cell ? 1 : 0}</v>`, 'b');
      if ('s' in cell) return text(ref, cell.s, cell.f);
      if ('e' in cell) return element(ref, 0, `<v>${escapeXml(cell.e)}</v>`, 'e');
      if ('n' in cell) return element(ref, cell.f ?? 0, `<v>${escapeXml(String(cell.n))}</v>`);
      if ('u' in cell) {
        if (cell.u.length > LONGEST_LINK) return text(ref, cell.u, 0);
        // A sheet can have only 65,530 links of another kind, but a formula in every cell.
        const formula = `HYPERLINK("${cell.u.replaceAll('"', '""')}")`;
        return element(ref, link, `<f>${escapeXml(formula)}</f><v>${escapeText(cell.u)}</v>`, 'str');
      }
      if ('j' in cell) return text(ref, cell.j, 0);
      if ('c' in cell) return this.cell(ref, cell.c, isHeader);
      const serial = serialOfIso(cell.t, is1904);
      if (serial === null) return text(ref, cell.t, 0);
      return element(ref, cell.t.includes('T') ? moment : day, `<v>${serial}</v>`);
    },
  };
}

/** True for an integer of more than 15 digits, which Excel would round: an identifier. */
function isLongInteger(cell: TypedCell): boolean {
  if (typeof cell === 'number') return /^-?\d{16,}$/.test(String(cell));
  return typeof cell === 'object' && cell !== null && 'n' in cell && /^-?\d{16,}$/.test(String(cell.n));
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Characters that XML does not allow, and texts like their escape (ECMA-376, 22.9.2). */
const UNWRITABLE = /(?![\t\n\x7f-\x9f])\p{Cc}|\p{Surrogate}|[\ufffe\uffff]|_(?=x[0-9a-fA-F]{4}_)/gu;

function escapeText(text: string): string {
  return escapeXml(
    text.replace(
      UNWRITABLE,
      (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    ),
  );
}

const LETTERS: string[] = [];

/** Returns `A` for 0, `AB` for 27. */
function letters(column: number): string {
  for (let at = LETTERS.length; at <= column; at += 1) {
    LETTERS.push((at < 26 ? '' : letters(Math.floor(at / 26) - 1)) + String.fromCharCode(65 + (at % 26)));
  }
  return LETTERS[column] ?? '';
}
