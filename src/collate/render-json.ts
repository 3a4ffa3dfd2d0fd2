/**
 * JSON lines: the user's object as it stood, and one key of ours before its closing brace, the service's profile in
 * it as it came. An earlier run's key is cut out; a CSV record becomes an object of texts.
 */
import { isoTime, RAW_COLUMN } from './columns.js';
import { isEarlierValue, jsonKey, refusal } from './earlier-columns.js';
import { addMember, cutMembers, membersOf } from './json-text.js';
import { type AnswerView, inOnePiece, type OutputPlan, type Renderer } from './output-plan.js';
import { cellTexts, jsonKeysOf } from './user-part.js';

export function createJsonRenderer(plan: OutputPlan): Renderer {
  const key = jsonKey(plan.prefix);
  const rawKey = plan.prefix + RAW_COLUMN;
  const lineEnd = plan.input.lineEnd === '\r\n' ? '\r\n' : '\n';
  const base = plan.input.format === 'csv' ? objectFromCsv(plan, key, rawKey) : objectAsItStood(plan, key);

  function member(view: AnswerView): string {
    const ours = {
      status: view.status,
      kind: view.identifier?.kind ?? null,
      identifier: view.identifier?.value ?? null,
      source: view.source,
      fetchedAt: view.fetchedAt === null ? null : isoTime(view.fetchedAt),
      error: view.error,
    };
    const profile = view.profile === null ? 'null' : onOneLine(view.profile);
    return `${JSON.stringify(key)}:${JSON.stringify(ours).slice(0, -1)},"profile":${profile}}`;
  }

  function unread(raw: string, ours: string): string {
    return `{${JSON.stringify(rawKey)}:${JSON.stringify(raw)},${ours}}${lineEnd}`;
  }

  return {
    header: () => null,
    answer: (view) => ({ before: inOnePiece(member(view)), after: '' }),
    row(raw, answer) {
      const line = addMember(base(raw), answer.before);
      return line === null ? unread(raw, answer.before) : line + lineEnd;
    },
    unreadable: (raw, reason) =>
      unread(
        raw,
        member({
          status: 'invalid',
          identifier: null,
          profile: null,
          source: null,
          fetchedAt: null,
          error: reason,
        }),
      ),
  };
}

/** Line breaks of a pretty-printed profile are dropped: valid JSON has them only between its tokens. */
function onOneLine(profile: string): string {
  return profile.includes('\n') || profile.includes('\r') ? profile.replace(/[\r\n]+/g, '') : profile;
}

/** The line without our key of an earlier run. A value under that key which is not ours stops the run. */
function objectAsItStood(plan: OutputPlan, key: string): (raw: string) => string {
  if (plan.replacedColumns.length === 0) return (raw) => raw;
  return (raw) => {
    const members = membersOf(raw) ?? [];
    return cutMembers(raw, members, (member) => {
      if (member.key !== key) return false;
      if (isEarlierValue(raw.slice(member.valueStart, member.valueEnd))) return true;
      throw refusal(`the key "${key}" in ${raw.slice(0, 80)}`);
    });
  };
}

/** Every cell as a text under its column's name: what a cell means is the user's to say. */
function objectFromCsv(plan: OutputPlan, key: string, rawKey: string): (raw: string) => string {
  const { columns, delimiter } = plan.input;
  const cut = new Set(plan.replacedColumns);
  const rawPosition = plan.replacedColumns.find((at) => columns[at] === rawKey) ?? -1;
  const kept = [...columns.keys()].filter((at) => !cut.has(at));
  const keys = jsonKeysOf(columns, kept);
  if (keys.includes(key)) throw refusal(`the column "${key}"`);
  const heads = keys.map((name) => `${JSON.stringify(name)}:`);
  return (raw) => {
    const cells = cellTexts(raw, delimiter);
    const members = kept.map((at, i) => heads[i] + JSON.stringify(cells[at] ?? ''));
    const carried = cells[rawPosition] ?? '';
    if (carried !== '') members.push(`${JSON.stringify(rawKey)}:${JSON.stringify(carried)}`);
    return `{${members.join(',')}}`;
  };
}
