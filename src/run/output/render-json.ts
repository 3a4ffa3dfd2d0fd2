/**
 * JSON lines: the user's object as it stood, and one key of ours before its closing brace, the service's profile in
 * it as it came. What an earlier run left under that key is replaced; a CSV record becomes an object of texts.
 */
import { isoTime, RAW_COLUMN } from './columns.js';
import { jsonKey, rawMember, refusal, withoutOurs } from './earlier-key.js';
import { addMember } from './json-text.js';
import { type AnswerView, inOnePiece, NOTHING_ASKED, type OutputPlan, type Renderer } from './output-plan.js';
import { cellTexts, jsonKeysOf } from './user-part.js';

/** The user's part of a line: an object, and the text of an unreadable record that an earlier run kept, as JSON. */
interface Base {
  readonly line: string;
  readonly carried: string | null;
}

export function createJsonRenderer(plan: OutputPlan): Renderer {
  const key = jsonKey(plan.prefix);
  const lineEnd = plan.input.lineEnd === '\r\n' ? '\r\n' : '\n';
  const baseOf = plan.input.format === 'csv' ? objectFromCsv(plan, key) : objectAsItStood(key);

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

  function spliced({ line, carried }: Base, ours: string): string {
    const whole = carried === null ? ours : addMember(ours, rawMember(carried));
    const added = whole === null ? null : addMember(line, whole);
    return (added ?? unread(line, ours)) + lineEnd;
  }

  function unread(raw: string, ours: string): string {
    return `{${addMember(ours, rawMember(JSON.stringify(raw)))}}`;
  }

  return {
    header: () => null,
    answer: (view) => ({ before: inOnePiece(member(view)), after: '' }),
    row: (raw, answer) => spliced(baseOf(raw), answer.before),
    unreadable: (raw, reason) => unread(raw, member({ ...NOTHING_ASKED, error: reason })) + lineEnd,
  };
}

/** Line breaks of a pretty-printed profile are dropped: valid JSON has them only between its tokens. */
function onOneLine(profile: string): string {
  return profile.includes('\n') || profile.includes('\r') ? profile.replace(/[\r\n]+/g, '') : profile;
}

/** Only a line in which the key's name stands somewhere, or an escape that could spell it, is looked into. */
function objectAsItStood(key: string): (raw: string) => Base {
  const quoted = JSON.stringify(key);
  return (raw) =>
    raw.includes(quoted) || raw.includes('\\u') ? withoutOurs(raw, key) : { line: raw, carried: null };
}

/** Every cell as a text under its column's name: what a cell means is the user's to say. */
function objectFromCsv(plan: OutputPlan, key: string): (raw: string) => Base {
  const { columns, delimiter } = plan.input;
  const cut = new Set(plan.replacedColumns);
  const rawPosition = plan.replacedColumns.find((at) => columns[at] === plan.prefix + RAW_COLUMN) ?? -1;
  const kept = [...columns.keys()].filter((at) => !cut.has(at));
  const keys = jsonKeysOf(columns, kept);
  if (keys.includes(key)) throw refusal(`the column "${key}"`);
  const heads = keys.map((name) => `${JSON.stringify(name)}:`);
  return (raw) => {
    const cells = cellTexts(raw, delimiter);
    const members = kept.map((at, i) => heads[i] + JSON.stringify(cells[at] ?? ''));
    const carried = cells.length > columns.length ? raw : (cells[rawPosition] ?? '');
    return { line: `{${members.join(',')}}`, carried: carried === '' ? null : JSON.stringify(carried) };
  };
}
