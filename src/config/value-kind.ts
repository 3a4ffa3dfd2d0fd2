/**
 * The shape that every kind of setting value shares: how many texts it takes and how they are read. A value that
 * cannot be read is data (`Refusal`), so that all problems of a command can be listed at once.
 *
 * Which kinds there are is said in `parse-value.ts`, `money-values.ts`, `address-values.ts` and `column-value.ts`.
 */

/** Why a text was refused, as two parts of one sentence: `"fast" is not <expected>; write <example>`. */
export interface Refusal {
  /** What the text should have been: `a duration`. */
  readonly expected: string;
  /** What to write instead: `a whole number and its unit (ms, s, m, h, d)`. */
  readonly write: string;
  /** Where the setting has no default that would do as one. Absent: `write` has its own, or needs none. */
  readonly example?: string | undefined;
  /** The right word that the text is closest to, when there is one. */
  readonly nearest?: string | undefined;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * `switch`: a flag without a value. `one`: one text. `list`: one text, cut at commas. `repeated`: the flag may be
 * given several times; in the environment cut at commas.
 */
type Arity = 'switch' | 'one' | 'list' | 'repeated';

export interface ValueKind<T> {
  readonly arity: Arity;
  /** How the value is written in usage lines: `DURATION`, `csv|jsonl`. Empty for a switch. */
  readonly placeholder: string;
  /** A path: relative ones in the config file count from the folder of that file. */
  readonly isPath: boolean;
  /** `switch` and `one` are handed exactly one text; the others any number. */
  parse(texts: readonly string[]): Parsed<T>;
}

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(expected: string, write: string, nearest?: string, example?: string): Parsed<never> {
  return { ok: false, refusal: { expected, write, nearest, example } };
}

/** A kind that reads one text. */
export function oneText<T>(placeholder: string, parse: (text: string) => Parsed<T>): ValueKind<T> {
  return { arity: 'one', placeholder, isPath: false, parse: ([text]) => parse(text ?? '') };
}

/** A kind that reads each of several texts alike. The first that is refused refuses them all. */
export function eachText<T>(
  arity: 'list' | 'repeated',
  placeholder: string,
  parse: (text: string) => Parsed<T>,
): ValueKind<readonly T[]> {
  return {
    arity,
    placeholder,
    isPath: false,
    parse(texts) {
      const values: T[] = [];
      for (const text of texts) {
        const parsed = parse(text);
        if (!parsed.ok) return parsed;
        values.push(parsed.value);
      }
      return accepted(values);
    },
  };
}
