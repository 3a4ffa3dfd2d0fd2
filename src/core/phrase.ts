/** Texts that name settings in the reader's way: `--sheet Q1`, or `sheet: 'Q1'`. Pure. */

/** A remedy for the reader, or a setting that the text is about. */
export type Remedy =
  /** Sets these values together. A list repeats its flag. */
  | { readonly set: Readonly<Record<string, string | number | boolean | readonly string[]>> }
  | { readonly unset: string }
  /** A value that the reader must find; `example` shows its form. */
  | { readonly choose: string; readonly example: string }
  /** Only names a setting. `shell` is for command lines, if it differs from the flag. */
  | { readonly setting: string; readonly shell?: string };

/** A text, in parts where it names settings. It survives JSON. */
export type Phrase = string | readonly (string | Remedy)[];

/** How to name settings: as flags, as keys of a settings file, or by a function, for pages. */
export type Naming = 'flags' | 'keys' | ((remedy: Remedy) => string);

/** Tags a template that names settings. Texts that are filled in never change. */
export function phrase(
  texts: TemplateStringsArray,
  ...filled: readonly (Phrase | Remedy | number)[]
): Phrase {
  return texts.flatMap((text, at) => [text, ...partsOf(filled[at] ?? '')]);
}

/** Joins several phrases, such as alternatives. */
export function joinPhrases(phrases: readonly (Phrase | Remedy)[], separator: string): Phrase {
  return phrases.flatMap((each, at) => [at === 0 ? '' : separator, ...partsOf(each)]);
}

/** Returns the remedies in a text, in order. */
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

/** Returns `--max-cost` for `maxCost`; a test compares all flags with the table of settings. */
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
