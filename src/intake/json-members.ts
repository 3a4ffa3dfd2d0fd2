/**
 * Members of a JSON object as texts. Numbers stay as they are written: `12345678901234567890` and `1.10` would
 * not survive `JSON.parse`. Whether the text is a JSON object at all must have been settled before.
 */

const COMMA = 44;
const CLOSE = 125;

/** Each top-level member in order: key, and the cell text of its value (empty for null, raw JSON for nested values). */
export function memberTexts(json: string): [key: string, text: string][] {
  const members: [string, string][] = [];
  let at = skipSpace(json, json.indexOf('{') + 1);
  while (json[at] !== '}') {
    const keyEnd = endOfString(json, at);
    const key = unquote(json.slice(at, keyEnd));
    at = skipSpace(json, json.indexOf(':', keyEnd) + 1);
    const valueEnd = endOfValue(json, at);
    members.push([key, cellText(json.slice(at, valueEnd))]);
    at = skipSpace(json, valueEnd);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return members;
}

function cellText(value: string): string {
  if (value === 'null') return '';
  return value[0] === '"' ? unquote(value) : value;
}

function unquote(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (at < json.length && json.charCodeAt(at) <= 32) at += 1;
  return at;
}

/** Index after the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  let at = json.indexOf('"', from + 1);
  while (isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at + 1;
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

function endOfValue(json: string, from: number): number {
  const first = json[from];
  if (first === '"') return endOfString(json, from);
  let at = from;
  if (first !== '{' && first !== '[') {
    for (let code = json.charCodeAt(at); code > 32 && code !== COMMA && code !== CLOSE; ) {
      at += 1;
      code = json.charCodeAt(at);
    }
    return at;
  }
  for (let depth = 0; ; at += 1) {
    const char = json[at];
    if (char === '"') at = endOfString(json, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
}
