/**
 * Where a text stops being JSON (RFC 8259). `JSON.parse` tells that only in some cases, and quotes the text with it, which
 * might hold what nobody should see.
 */

export interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

const TOKEN =
  /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/uy;
const BLANKS = /[ \t\r\n]*/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

/** The first place at which the text cannot go on as it does; its end when something is missing there. null: it is JSON. */
export function findJsonFault(text: string): JsonFault | null {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at += readAt(BLANKS, text, at).length;
    if (at >= text.length) return expected === 'nothing' ? null : placeOf(text, at);
    const token = readAt(TOKEN, text, at);
    const next: Expected | null = token === '' ? null : step(expected, token, open);
    if (next === null) return placeOf(text, at);
    expected = next;
    at += token.length;
  }
}

/** What may follow `token`; null when it is not what was expected. Keeps `open` up to date. */
function step(expected: Expected, token: string, open: ('{' | '[')[]): Expected | null {
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : ', or end');
  const isClosing =
    (token === '}' && open.at(-1) === '{' && (expected === 'key or }' || expected === ', or end')) ||
    (token === ']' && open.at(-1) === '[' && (expected === 'value or ]' || expected === ', or end'));
  if (isClosing) {
    open.pop();
    return afterValue();
  }
  switch (expected) {
    case 'key':
    case 'key or }':
      return token.startsWith('"') ? ':' : null;
    case ':':
      return token === ':' ? 'value' : null;
    case ', or end':
      if (token !== ',') return null;
      return open.at(-1) === '{' ? 'key' : 'value';
    case 'nothing':
      return null;
    default:
      if (token === '{' || token === '[') {
        open.push(token);
        return token === '{' ? 'key or }' : 'value or ]';
      }
      return '}],:'.includes(token) ? null : afterValue();
  }
}

function readAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function placeOf(text: string, at: number): JsonFault {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
