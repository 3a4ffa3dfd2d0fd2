/** The name of a file that a browser sends, made safe for every file system. Pure. */
import { NeverStartError, usageProblem } from '../../core/errors.js';
import type { TableFormat } from '../../core/table.js';
import { isLeftAlone, isSideFile, sideFileOf, stemOf } from './inbox-file.js';

/** Windows and its shares refuse these signs; the slashes end a folder. */
const REFUSED_SIGNS = /[<>:"|?*/\\]/g;
/** Devices of Windows, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;

/**
 * The last part of the name: composed (NFC), without folders, control, format and bidirectional
 * signs, reserved names and signs, and not too long for our files beside it. Throws
 * `NeverStartError` for names that the inbox leaves alone.
 */
export function uploadName(given: string): string {
  const last = given.split(/[/\\]/).findLast((part) => part.trim() !== '') ?? '';
  const plain = last
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, '')
    .replace(REFUSED_SIGNS, '_')
    .replace(/\s+/g, ' ')
    .replace(/^ +|[ .]+$/g, '')
    .replace(DEVICE, '_$&');
  const name = shortened(plain === '' ? 'upload' : plain);
  const why = isSideFile(name)
    ? 'files of this name hold the settings of another file'
    : isLeftAlone(name) && 'files of this name are ignored: hidden, unfinished, or of another program';
  if (why !== false) throw new NeverStartError(usageProblem(why, name, 'rename the file'));
  return name;
}

function shortened(name: string): string {
  const [ending = ''] = /(?:\.[^.]{1,10})?(?:\.gz)?$/i.exec(name) ?? [];
  const stem = stemOf(name);
  return name.startsWith(stem) && name.length > stem.length + ending.length ? stem + ending : name;
}

/** The `number`th name to try for it: `customers.csv`, `customers-2.csv`, and so on. */
export function numberedName(name: string, number: number): string {
  const stem = stemOf(name);
  return number === 1 ? name : `${stem}-${number}${name.slice(stem.length)}`;
}

/**
 * The same name with an ending that is known for tables, so that the settings file beside it is
 * taken for one: `export` that holds CSV becomes `export.csv`.
 */
export function withTableEnding(name: string, format: TableFormat): string {
  return isSideFile(sideFileOf(name)) ? name : `${name}.${format}`;
}
