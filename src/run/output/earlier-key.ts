/** Replaces the key or columns of an earlier run; the user's own data there stops the run. */
import { ConfigError } from '../../core/errors.js';
import { cutMembers, type Member, membersOf } from '../../core/json-text.js';
import { phrase } from '../../core/phrase.js';
import type { RowReason } from '../../core/row-reason.js';
import { JSON_MARKS, type Row } from '../../core/table.js';
import { cutText } from '../../core/terminal-text.js';
import { RAW_COLUMN } from './columns.js';

/** The key of our object for the text of an unreadable line. */
const RAW_KEY = 'raw';

/** True if an earlier run wrote this JSON value under our key. */
export function isEarlierValue(value: string): boolean {
  const members = membersOf(value);
  return members !== null && JSON_MARKS.every((key) => members.some((member) => member.key === key));
}

/**
 * Removes the value of an earlier run under our key. `members`: of the rest. `carried`: JSON text
 * that the earlier run could not read, with its `error`. Throws `column-ours` for other values.
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

/** Returns the reason of an earlier run that could not read this row, else null. */
export type EarlierProblem = (row: Row) => RowReason | null;

/** Reads a CSV whose columns at `ours` are those of an earlier run. */
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

/** Reads JSON. The result throws ConfigError `column-ours` on another value under `key`. */
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

/** Returns the member for the text of an unreadable line. */
export function rawMember(json: string): string {
  return `"${RAW_KEY}":${json}`;
}

/** Returns the error for a key that would overwrite the user's data. */
export function refusal(subject: string): ConfigError {
  return new ConfigError({
    code: 'column-ours',
    what: 'the key for the results is already in use',
    subject,
    todo: phrase`choose another key with ${{ setting: 'prefix' }}, for example ${{
      set: { prefix: 'enriched_' },
    }}`,
  });
}
