/**
 * Finds the table in a JSON text: an array at its top, or one inside an object, as answers of web
 * services have it (`{"data": {"items": [...]}}`). Pure; looks at the beginning of the text.
 */
import { FailFileError } from '../core/errors.js';
import { phrase } from '../core/phrase.js';
import { shortName } from '../core/terminal-text.js';

export interface JsonTable {
  /** Keys down to the array, between dots; empty for an array at the top. */
  readonly path: string;
  /** The text before the array; the output begins with it too. */
  readonly head: string;
  /** Whether the array holds texts or numbers instead of objects: a list without a header. */
  readonly isBare: boolean;
  /** Paths of the other arrays of objects. */
  readonly others: readonly string[];
  /** Whether arrays of objects are most of the text. */
  readonly isMost: boolean;
}

interface FoundArray extends Pick<JsonTable, 'path' | 'isBare'> {
  /** Position of its bracket. */
  readonly at: number;
  /** Objects around it. */
  readonly depth: number;
  /** Length as text. */
  readonly chars: number;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;
const COMMENT = /^\/[/*]/;
/** Arrays that a message names at most. */
const MOST_NAMED = 10;

/**
 * `records`: the path that the user chose; null: the only array of objects, or the longest, or
 * else one of texts or numbers. Returns null where there is none. Throws `input-binary` for a path
 * that is not there, and for JSON with comments.
 */
export function findJsonTable(name: string, text: string, records: string | null): JsonTable | null {
  const arrays = findArrays(name, text);
  const byLength = [...arrays].sort((one, other) => other.chars - one.chars);
  const objects = byLength.filter(({ isBare }) => !isBare);
  const chosen = records === null ? (objects[0] ?? byLength[0]) : arrays.find(({ path }) => path === records);
  if (chosen === undefined && records !== null) throw unknownPath(name, records, arrays);
  if (chosen === undefined || !isBeginning(text.slice(0, chosen.at), chosen.depth)) return null;
  const { path, at, isBare } = chosen;
  const others = objects.filter((each) => each !== chosen).map((each) => each.path);
  const isMost = objects.reduce((sum, each) => sum + each.chars, 0) > text.length / 2;
  return { path, head: text.slice(0, at), isBare, others, isMost };
}

/** Arrays of objects, texts or numbers, in the text or in its objects; none within another one. */
function findArrays(name: string, text: string): FoundArray[] {
  const found: FoundArray[] = [];
  /** Of the objects that are open, the key whose value comes. */
  const keys: string[] = [];
  let open: { readonly path: string; readonly at: number; first: string | null } | null = null;
  let depth = 0;
  let last = '';
  const close = (chars: number) => {
    const { path = '', at = 0, first = null } = open ?? {};
    const isBare = first !== '{';
    if (first !== null && first !== '[' && first !== ']')
      found.push({ path, at, depth: keys.length, chars, isBare });
    open = null;
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (COMMENT.test(token)) throw withComments(name);
    if (open !== null) {
      open.first ??= token;
      if (token === '{' || token === '[') depth += 1;
      else if (token === '}' || token === ']') depth -= 1;
      if (depth === 0) close(index - open.at);
    } else if (token === '[') {
      open = { path: keys.join('.'), at: index, first: null };
      depth = 1;
    } else if (token === '{') keys.push('');
    else if (token === '}') keys.pop();
    else if (token === ':' && keys.length > 0) keys[keys.length - 1] = keyOf(last);
    last = token;
  }
  // The text that was looked at is only the beginning, and this array goes on.
  close(Number.POSITIVE_INFINITY);
  return found;
}

/** Whether this is JSON up to an array in so many objects: lines of JSON have brackets too. */
function isBeginning(head: string, depth: number): boolean {
  try {
    JSON.parse(`${head}[]${'}'.repeat(depth)}`);
    return true;
  } catch {
    return false;
  }
}

function keyOf(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

function unknownPath(name: string, records: string, arrays: readonly FoundArray[]): FailFileError {
  const paths = arrays.slice(0, MOST_NAMED).map(({ path }) => shortName(path));
  return new FailFileError({
    code: 'input-binary',
    what: 'the input has no such array',
    subject: phrase`${name}, ${{ set: { records } }}`,
    todo: paths.length === 0 ? 'give a file with an array of objects' : `use one of ${paths.join(', ')}`,
  });
}

function withComments(name: string): FailFileError {
  return new FailFileError({
    code: 'input-binary',
    what: 'the input is JSON with comments',
    subject: name,
    todo: 'remove the comments (// and /* */), or save the table as CSV',
  });
}
