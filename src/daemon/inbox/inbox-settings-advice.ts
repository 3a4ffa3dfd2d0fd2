/**
 * What a message's flags are in the settings file of an inbox: those who drop files have no command line, so `reason.txt` prints the
 * lines that they can save. Pure.
 */

import type { Setting } from '../../config/setting.js';
import { SETTING_ENTRIES } from '../../config/settings.js';
import { FOLDER_ENTRIES, FOLDER_SETTINGS_FILE } from './inbox-folder-settings.js';

/** A flag; its value, bare or quoted for a shell; and whether nothing but a blank stands before it. */
const FLAG =
  /(leave )?(--[a-z]+(?:-[a-z]+)*)(?: ('(?:[^']|'\\'')*'|(?!--|(?:or|and|if|to|for|falls)\b)[^\s,;()]*[^\s,;().]))?/g;
/** A value that a message leaves to its reader. */
const OPEN_VALUE = /^(?:NAME:|\S*:KIND)/;

/**
 * The lines for `brand-enrich.json` that say what the flags of a "what to do" say, one for each alternative. Flags that an inbox may not
 * set, that are to be left out, or that stand there without their value give none.
 */
export function settingsLines(todo: string): string[] {
  const groups: { values: Record<string, unknown>; end: number; isWhole: boolean }[] = [];
  for (const match of todo.matchAll(FLAG)) {
    const [text, leave, flag, shown] = match;
    const last = groups.at(-1);
    const found = readFlag(flag ?? '', shown);
    const end = match.index + (found?.isSwitch ? (leave ?? '').length + (flag ?? '').length : text.length);
    // Flags beside each other belong together, others are alternatives.
    const isBeside = last !== undefined && match.index === last.end + 1;
    const group = isBeside ? last : { values: {}, end, isWhole: true };
    if (!isBeside) groups.push(group);
    group.end = end;
    if (found === null || leave !== undefined) group.isWhole = false;
    else group.values[found.key] = joined(group.values[found.key], found.value);
  }
  const lines = groups.filter(({ isWhole }) => isWhole).map(({ values }) => JSON.stringify(values));
  return [...new Set(lines)];
}

interface ReadFlag {
  readonly key: string;
  readonly value: unknown;
  readonly isSwitch: boolean;
}

function readFlag(flag: string, shown: string | undefined): ReadFlag | null {
  const line: Setting<unknown> | undefined = SETTING_ENTRIES.find(([, each]) => each.flag === flag)?.[1];
  const isAllowed = FOLDER_ENTRIES.some(([, each]) => each.flag === flag);
  if (line === undefined || line.key === null || !isAllowed) return null;
  if (line.kind.arity === 'switch') {
    return { key: line.key, value: !flag.startsWith('--no-'), isSwitch: true };
  }
  if (shown === undefined) return null;
  const value = shown.startsWith("'") ? shown.slice(1, -1).replaceAll("'\\''", "'") : shown;
  if (!line.kind.parse([value]).ok) return null;
  return { key: line.key, value: /^\d{1,9}$/.test(value) ? Number(value) : value, isSwitch: false };
}

function joined(known: unknown, value: unknown): unknown {
  if (known === undefined) return value;
  return Array.isArray(known) ? [...known, value] : [known, value];
}

/** The paragraph of `reason.txt` that holds the lines; empty when there is none. */
export function settingsAdvice(todo: string): string {
  const lines = settingsLines(todo);
  if (lines.length === 0) return '';
  const which = lines.length === 1 ? 'save this line' : 'save the one of these lines that is meant';
  const open = OPEN_VALUE.test(todo.slice(todo.indexOf('--column ') + '--column '.length));
  return (
    `For this inbox, ${which} as ${FOLDER_SETTINGS_FILE} beside the folder inbox` +
    `${open ? ', with name and kind of the column' : ''} (where there is such a file, add it to what is there), and put the file into the inbox again:\n\n` +
    `${lines.join('\n')}`
  );
}
