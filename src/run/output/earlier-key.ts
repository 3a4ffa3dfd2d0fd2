/** Replaces the key or columns of an earlier run; anything else there stops the run. */
import { ConfigError } from '../../core/errors.js';
import { cutMembers, type Member, membersOf } from '../../core/json-text.js';
import { phrase } from '../../core/phrase.js';
import type { RowReason } from '../../core/row-reason.js';
import { JSON_MARKS, type Row } from '../../core/table.js';
import { cutText } from '../../core/terminal-text.js';
import { RAW_COLUMN } from './columns.js';

/** Where that object keeps the text of a line that could not be read. */
const RAW_KEY = 'raw';

/** Whether the JSON text of a value under our key was written by an earlier run. */
export function isEarlierValue(value: string): boolean {
  const members = membersOf(value);
  return members !== null && JSON_MARKS.every((key) => members.some((member) => member.key === key));
}

/**
 * Takes out what an earlier run left under our key. `members`: of the rest, as it came. `carried`:
 * JSON text that that run could not read, for `error`. Throws `column-ours` for other values.
 */
export function withoutOurs(line: string, key: string) {
  const all = membersOf(line) ?? [];
  const isOurs = (member: Member) => member.key === key;
  let carried: string | null = null;
  let error: string | null = null;
  for (const { valueStart, valueEnd } of all.filter(isOurs)) {
    const value = line.slice(valueStart, valueEnd);
    if (!isEarlierValue(value)) throw refusal(`the key "${key}" in ${line.slice(0, 80)}`);
    for (const member of membersOf(value) ?? []) {
      const text = value.slice(member.valueStart, member.valueEnd);
      if (member.key === RAW_KEY) carried = text;
      if (member.key === 'error' && text.startsWith('"')) error = String(JSON.parse(text));
    }
  }
  const members = all.filter((member) => !isOurs(member));
  const isTouched = members.length < all.length;
  return { line: isTouched ? cutMembers(line, all, isOurs) : line, members, carried, error };
}

/** With the words of an earlier run that could not read this row and kept its text; else null. */
export type EarlierProblem = (row: Row) => RowReason | null;

/** For the rows of a CSV whose columns at `ours` are those of an earlier run. */
export function earlierCells(
  columns: readonly string[],
  ours: readonly number[],
  prefix: string,
): EarlierProblem {
  const rawAt = ours.find((at) => columns[at] === prefix + RAW_COLUMN);
  const errorAt = ours.find((at) => columns[at] === `${prefix}error`);
  if (rawAt === undefined) return () => null;
  const isOurs = new Set(ours);
  return ({ cells }) => {
    const isBlank = cells.every((cell, at) => isOurs.has(at) || cell.trim() === '');
    return cells[rawAt] && isBlank ? unreadEarlier(cells[errorAt ?? -1]) : null;
  };
}

/** For JSON lines. The result throws ConfigError `column-ours` on another value under `key`. */
export function earlierKey(key: string): EarlierProblem {
  return ({ raw }) => {
    if (!raw.includes(key)) return null;
    const { carried, members, error } = withoutOurs(raw, key);
    const isBlank = members.every(({ valueStart, valueEnd }) =>
      /^(?:null|"\s*")$/.test(raw.slice(valueStart, valueEnd)),
    );
    return carried !== null && isBlank ? unreadEarlier(error) : null;
  };
}

const WORDS_AT_MOST = 1_000;

function unreadEarlier(words: string | null | undefined): RowReason {
  return { code: 'unread_earlier', ...(words && { text: cutText(words, WORDS_AT_MOST) }) };
}

/** The member under our key that keeps the text of a line that could not be read. */
export function rawMember(json: string): string {
  return `"${RAW_KEY}":${json}`;
}

/** The refusal to overwrite the user's data. */
export function refusal(subject: string): ConfigError {
  return new ConfigError({
    code: 'column-ours',
    what: 'the key for the results exists already',
    subject,
    todo: phrase`choose another key with ${{ setting: 'prefix' }}, for example ${{
      set: { prefix: 'enriched_' },
    }}`,
  });
}
