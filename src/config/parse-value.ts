/**
 * Kinds of setting values: how many texts each takes and how they are read. Strict: a text that is
 * not exactly of the form is refused with an example of the right one. A refusal is data, so that
 * all problems of a command line can be listed at once.
 */
import { nearest } from '../core/nearest.js';

/**
 * Why a text was refused, as two parts of one sentence: `"fast" is not <expected>; write
 * <example>`.
 */
export interface Refusal {
  /** What the text should have been: `a duration`. */
  readonly expected: string;
  /** What to write instead: `a whole number and its unit (ms, s, m, h, d)`. */
  readonly write: string;
  /**
   * Where the setting has no default that would do as one. Absent: `write` has its own, or needs
   * none.
   */
  readonly example?: string | undefined;
  /** The right word that the text is closest to, when there is one. */
  readonly nearest?: string | undefined;
}

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/**
 * `switch`: a flag without a value. `one`: one text. `list`: one text, cut at commas. `repeated`:
 * the flag may be given several times; in the environment cut at commas.
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

const MS_OF_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type DurationUnit = keyof typeof MS_OF_UNIT;

/** Any text but the empty one. */
export function text(placeholder: string): ValueKind<string> {
  return oneText(placeholder, (seen) =>
    seen.trim() === '' ? refused('a text', `something in place of ${placeholder}`) : accepted(seen),
  );
}

/** A file or folder. */
export function path(placeholder: 'FILE' | 'DIR'): ValueKind<string> {
  return { ...text(placeholder), isPath: true };
}

/** Files or folders, the flag given once for each. */
export function paths(placeholder: 'FILE' | 'DIR'): ValueKind<readonly string[]> {
  const one = path(placeholder);
  return { ...eachText('repeated', placeholder, (seen) => one.parse([seen])), isPath: true };
}

/** One of a few words; usage lines show them all, unless there is a shorter placeholder. */
export function choice<const T extends string>(
  choices: readonly T[],
  placeholder = choices.join('|'),
): ValueKind<T> {
  return oneText(placeholder, (seen) => {
    const found = choices.find((each) => each === seen);
    if (found !== undefined) return accepted(found);
    return refused(`one of ${choices.join(', ')}`, oneOf(choices), nearest(seen, choices));
  });
}

function oneOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

const YES = ['true', 'yes', 'on', '1'];
const NO = ['false', 'no', 'off', '0'];

function parseBoolean(seen: string): Parsed<boolean> {
  const word = seen.toLowerCase();
  if (YES.includes(word)) return accepted(true);
  if (NO.includes(word)) return accepted(false);
  return refused('true or false', 'true or false', nearest(seen, ['true', 'false']));
}

/** A flag without a value; `true`, `yes`, `on`, `1` and their opposites elsewhere. */
export const yesOrNo: ValueKind<boolean> = { ...oneText('', parseBoolean), arity: 'switch' };

/** A flag with the value `on` or `off`. */
export const onOrOff: ValueKind<boolean> = oneText('on|off', (seen) => {
  const parsed = parseBoolean(seen);
  return parsed.ok ? parsed : refused('on or off', 'on or off', nearest(seen, ['on', 'off']));
});

/**
 * A whole number within bounds, both included. Digits only: no sign, blanks, separators or
 * exponent.
 */
export function count(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  const example = Math.min(Math.max(min, 100), max);
  return oneText('N', (seen) => {
    const value = /^\d{1,16}$/.test(seen) ? Number(seen) : Number.NaN;
    if (value >= min && value <= max) return accepted(value);
    return refused(`a whole number ${bounds}`, `a whole number ${bounds}`, undefined, String(example));
  });
}

/** Reads `500ms`, `40s`, `15m`, `2h` or `7d` into milliseconds; null for anything else. */
export function parseDurationMs(seen: string): number | null {
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(seen);
  if (match === null) return null;
  return Number(match[1]) * MS_OF_UNIT[match[2] as DurationUnit];
}

const EXAMPLE_MS = 10_000;

/**
 * A duration within bounds, both included and written as durations; the value is in milliseconds.
 */
export function duration(min: string, max: string): ValueKind<number> {
  const minMs = parseDurationMs(min) ?? 0;
  const maxMs = parseDurationMs(max) ?? Number.MAX_SAFE_INTEGER;
  const example = minMs <= EXAMPLE_MS && EXAMPLE_MS <= maxMs ? `${EXAMPLE_MS / 1_000}s` : max;
  return oneText('DURATION', (seen) => {
    const ms = parseDurationMs(seen);
    if (ms !== null && ms >= minMs && ms <= maxMs) return accepted(ms);
    const write = `a whole number and its unit (ms, s, m, h, d), from ${min} to ${max}`;
    return refused(
      ms === null ? 'a duration' : `a duration from ${min} to ${max}`,
      write,
      undefined,
      example,
    );
  });
}

/** A month of the calendar, `2026-11`. */
export const month: ValueKind<string> = oneText('YYYY-MM', (seen) =>
  /^\d{4}-(0[1-9]|1[0-2])$/.test(seen)
    ? accepted(seen)
    : refused('a month', 'year and month with two digits, for example 2026-11'),
);

/** Names separated by commas; blanks around them do not count. An empty name is refused. */
export function listOf(placeholder: string, example: string): ValueKind<readonly string[]> {
  return eachText('list', placeholder, (seen) =>
    seen.trim() === ''
      ? refused('a list without gaps', `names separated by commas, for example ${example}`)
      : accepted(seen.trim()),
  );
}

/**
 * `KEY=VALUE` texts, given as often as needed, as they were written. The reader knows which keys
 * exist.
 */
export const keyValues: ValueKind<readonly string[]> = eachText('repeated', 'KEY=VALUE', (seen) =>
  /^[^=\s]+=\S+$/.test(seen)
    ? accepted(seen)
    : refused('a key and its value', 'KEY=VALUE, for example latency=100ms'),
);
