import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

export async function zipOf(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(parts)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  return buffer(zip.outputStream);
}

export const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...parts: readonly (readonly [kind: string, target: string])[]) =>
  `<Relationships>${parts.map(([kind, target], at) => `<Relationship Id="r${at}" Type="${OFFICE}/${kind}" Target="${target}"/>`).join('')}</Relationships>`;

/** A workbook of one sheet with these rows as XML; other parts are added, or replace its own. */
export function workbookOf(rows: string, parts: Readonly<Record<string, string>> = {}, properties = '') {
  return zipOf({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relations(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<x:workbook xmlns:x="x" xmlns:r="${OFFICE}">${properties}<x:sheets><x:sheet name="One" sheetId="1" r:id="r0"/></x:sheets></x:workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      ['worksheet', 'worksheets/one.xml'],
      ['styles', '/xl/styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ),
    'xl/worksheets/one.xml': `<?xml version="1.0"?><worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...parts,
  });
}
