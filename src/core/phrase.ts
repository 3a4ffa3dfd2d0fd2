/** Texts whose readers name settings differently: `--sheet Q1`, or `sheet: 'Q1'`. Pure. */

/** What a reader can do about it, or a setting that the text is about. */
export type Remedy =
  /** These values together. Flags repeat for a list. */
  | { readonly set: Readonly<Record<string, string | number | boolean | readonly string[]>> }
  | { readonly unset: string }
  /** A value that the reader must find; `example` shows its form. */
  | { readonly choose: string; readonly example: string }
  /** It is only named. `shell`: on a command line, where that is not its flag. */
  | { readonly setting: string; readonly shell?: string };

/** A text, in parts where it names settings. JSON carries it. */
export type Phrase = string | readonly (string | Remedy)[];

/** Who reads it: with flags, with keys of a settings file, or in its own words, as a page. */
export type Naming = 'flags' | 'keys' | ((remedy: Remedy) => string);

/** The tag of a text that names settings. What is filled in as text is never changed. */
export function phrase(
  texts: TemplateStringsArray,
  ...filled: readonly (Phrase | Remedy | number)[]
): Phrase {
  return texts.flatMap((text, at) => [text, ...partsOf(filled[at] ?? '')]);
}

/** Several as one, such as alternatives. */
export function joinPhrases(phrases: readonly (Phrase | Remedy)[], separator: string): Phrase {
  return phrases.flatMap((each, at) => [at === 0 ? '' : separator, ...partsOf(each)]);
}

/** What it advises to set or to choose, in order. */
export function remediesIn(text: Phrase): Remedy[] {
  return partsOf(text).filter((part) => typeof part !== 'string');
}

export function sayPhrase(text: Phrase, naming: Naming): string {
  const say = (part: string | Remedy) => (typeof part === 'string' ? part : sayRemedy(part, naming));
  return partsOf(text).map(say).join('');
}

function partsOf(filled: Phrase | Remedy | number): readonly (string | Remedy)[] {
  if (typeof filled === 'string' || typeof filled === 'number') return [String(filled)];
  return 'length' in filled ? filled : [filled];
}

function sayRemedy(remedy: Remedy, naming: Naming): string {
  if (typeof naming === 'function') return naming(remedy);
  const isShell = naming === 'flags';
  if ('set' in remedy) {
    const values = Object.entries(remedy.set);
    if (!isShell) return values.map(([key, value]) => `${key}: ${literal(value)}`).join(', ');
    return values.flatMap(([key, value]) => [value].flat().map((each) => flagWith(key, each))).join(' ');
  }
  if ('unset' in remedy) return `omit ${isShell ? flagOf(remedy.unset) : remedy.unset}`;
  if ('setting' in remedy) return isShell ? (remedy.shell ?? flagOf(remedy.setting)) : remedy.setting;
  const { choose, example } = remedy;
  return isShell ? `${flagOf(choose)} ${shellWord(example)}` : `${choose}: ${literal(example)}`;
}

/** `--max-cost` for `maxCost`: all flags are made so, which a test compares with their table. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function flagWith(key: string, value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? flagOf(key) : flagOf(key).replace('--', '--no-');
  return `${flagOf(key)} ${shellWord(String(value))}`;
}

function shellWord(text: string): string {
  return /^[\w./](?:[\w.:/-]*[\w/])?$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function literal(value: string | number | boolean | readonly string[]): string {
  if (typeof value === 'object') return `[${value.map(literal).join(', ')}]`;
  return typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value);
}
