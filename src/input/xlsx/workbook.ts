/** Reads the parts of a workbook: sheets, number formats, date system. */
import { posix } from 'node:path';
import { RunError } from '../../core/errors.js';
import { phrase } from '../../core/phrase.js';
import { firstOf, shortName } from '../../core/terminal-text.js';
import { BUILT_IN_FORMATS, type CellFormats } from '../../core/typed-cell.js';
import type { ZipArchive } from '../zip-archive.js';
import { readXml, type XmlHandler } from './xml-feed.js';

export interface SheetPart {
  readonly name: string;
  readonly part: string;
  readonly isHidden: boolean;
}

export interface Workbook {
  readonly sheets: readonly SheetPart[];
  readonly formats: CellFormats;
  readonly formatOfStyle: readonly number[];
  /** Part with the texts that cells share; null without one. */
  readonly sharedStrings: string | null;
}

/** Reads what is common to all sheets. Throws Error if the archive is not a workbook. */
export async function readWorkbook(archive: ZipArchive): Promise<Workbook> {
  const { sheets, is1904, partOf } = await readSheets(archive);
  const styles = partOf('styles');
  const { codes, formatOfStyle } = await readStyles(styles === null ? null : archive.read(styles));
  return { sheets, formats: { codes, is1904 }, formatOfStyle, sharedStrings: partOf('sharedStrings') };
}

/** Returns the sheets, and a function that finds a part of a kind. Throws like `readWorkbook`. */
export async function readSheets(archive: ZipArchive) {
  const roots = await readRelations(archive, '/');
  const path = [...roots.values()].find(({ kind }) => kind === 'officeDocument')?.part;
  if (path === undefined) throw new Error('it has no workbook part');
  const relations = await readRelations(archive, path);
  const sheets: SheetPart[] = [];
  let is1904 = false;
  await readXml(archive.read(path), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = /^(1|true|on)$/.test(attributes.date1904?.value ?? '');
      if (name !== 'sheet') return;
      const relation = relations.get(relationOf(attributes));
      // A chart or a macro may be a sheet too.
      if (relation?.kind !== 'worksheet') return;
      const isHidden = (attributes.state?.value ?? 'visible') !== 'visible';
      sheets.push({ name: attributes.name?.value ?? '', part: relation.part, isHidden });
    },
  });
  const partOf = (wanted: string) => {
    const part = [...relations.values()].find(({ kind }) => kind === wanted)?.part;
    return part !== undefined && archive.has(part) ? part : null;
  };
  return { sheets: sheets as readonly SheetPart[], is1904, partOf };
}

/** Returns the attribute `r:id`, whose namespace ends alike in both editions of the standard. */
const relationOf = (attributes: Parameters<XmlHandler['open']>[1]) =>
  Object.values(attributes).find(({ local, uri }) => local === 'id' && uri.endsWith('/relationships'))
    ?.value ?? '';

/** The types of relations in both editions of the standard, transitional and strict. */
const RELATION = new RegExp(
  '^http://(?:schemas\\.openxmlformats\\.org/officeDocument/2006|purl\\.oclc\\.org/ooxml/officeDocument)' +
    '/relationships/(\\w+)$',
);

/** Reads relations of the standard's kinds, by id. */
async function readRelations(archive: ZipArchive, source: string) {
  const { dir: folder, base } = posix.parse(source);
  const relations = new Map<string, { readonly kind: string; readonly part: string }>();
  await readXml(archive.read(posix.join(folder, '_rels', `${base}.rels`)), {
    open(name, attributes) {
      const kind = RELATION.exec(attributes.Type?.value ?? '')?.[1];
      if (name !== 'Relationship' || kind === undefined) return;
      const target = (attributes.Target?.value ?? '').replaceAll('\\', '/');
      relations.set(attributes.Id?.value ?? '', { kind, part: posix.resolve(folder, target) });
    },
  });
  return relations;
}

const isAsianDate = (id: number) => (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

/** The longest number format in Excel; longer ones would take minutes to interpret. */
const MOST_CODE_CHARS = 255;

async function readStyles(chunks: AsyncIterable<Buffer> | null) {
  const own = new Map<number, string>();
  const positions = new Map([['General', 0]]);
  const formatOfStyle: number[] = [];
  let isCellStyles = false;
  const codeOf = (id: number) =>
    own.get(id) ?? BUILT_IN_FORMATS[id] ?? (isAsianDate(id) ? 'yyyy-mm-dd' : 'General');
  if (chunks !== null) {
    await readXml(chunks, {
      open(name, attributes) {
        if (name === 'numFmt') {
          const code = attributes.formatCode?.value ?? 'General';
          own.set(Number(attributes.numFmtId?.value), code.length > MOST_CODE_CHARS ? 'General' : code);
        } else if (name === 'cellXfs') isCellStyles = true;
        else if (name === 'xf' && isCellStyles) {
          const code = codeOf(Number(attributes.numFmtId?.value ?? 0));
          if (!positions.has(code)) positions.set(code, positions.size);
          formatOfStyle.push(positions.get(code) ?? 0);
        }
      },
      close(name) {
        if (name === 'cellXfs') isCellStyles = false;
      },
    });
  }
  return { codes: [...positions.keys()], formatOfStyle };
}

/** Returns the sheet `asked`, a name or a position from 1; by default the first visible one. */
export function chooseSheet(
  name: string,
  sheets: readonly SheetPart[],
  asked: string | undefined,
): SheetPart {
  const same = (text: string) => text.trim().toLowerCase();
  const byName = (text: string) =>
    sheets.find((sheet) => sheet.name === text) ?? sheets.find((sheet) => same(sheet.name) === same(text));
  const byPosition = (text: string) => (/^\d+$/.test(text) ? sheets[Number(text) - 1] : undefined);
  const visible = sheets.find(({ isHidden }) => !isHidden) ?? sheets[0];
  const chosen = asked === undefined ? visible : (byName(asked) ?? byPosition(asked));
  if (chosen !== undefined) return chosen;
  const what = `the workbook has no ${asked === undefined ? 'sheet with cells' : 'such sheet'}`;
  const subject = asked === undefined ? name : phrase`${name}, ${{ set: { sheet: asked } }}`;
  const todo = sheets.length === 0 ? 'check that this is the right file' : `it has ${listSheets(sheets)}`;
  throw new RunError({ code: 'input-empty', what, subject, todo });
}

const SHEETS_SHOWN = 20;

export function listSheets(sheets: readonly SheetPart[]): string {
  const shown = sheets.map(({ name }, at) => `${at + 1} '${shortName(name)}'`);
  return firstOf(shown, SHEETS_SHOWN);
}
