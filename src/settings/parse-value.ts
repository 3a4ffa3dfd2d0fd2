/** Kinds of values. A refusal is data, so that all problems can be listed at once. */
import { nearest } from '../core/nearest.js';

/** Why a text was refused, as parts of a sentence: `"fast" is not <expected>; write <write>`. */
export class Refusal {
  constructor(
    readonly expected: string,
    readonly write: string,
    readonly nearest?: string,
    /** Example to append to `write` if the setting's default cannot serve as one. */
    readonly example?: string,
  ) {}
}

/**
 * `switch`: a flag without a value. `one`: one text. `list`: one text, split at commas. `repeated`:
 * several flags; in the environment one text, split at commas.
 */
type Arity = 'switch' | 'one' | 'list' | 'repeated';

export interface ValueKind<T> {
  readonly arity: Arity;
  /** The value in usage lines: `DURATION`, `csv|jsonl`. Empty for a switch. */
  readonly placeholder: string;
  /** True for paths; in the config file, relative ones start at the folder of the file. */
  readonly isPath: boolean;
  /** All possible words, for completion in shells; empty if other texts are possible. */
  readonly choices: readonly string[];
  /** Parses one text for `switch` and `one`, any number for the others. */
  parse(texts: readonly string[]): T | Refusal;
}

type ParseText<T> = (text: string) => T | Refusal;

/** Returns a kind that reads one text. */
export function oneText<T>(placeholder: string, parse: ParseText<T>): ValueKind<T> {
  return { arity: 'one', placeholder, isPath: false, choices: [], parse: ([text]) => parse(text ?? '') };
}

/** Returns a kind that takes one text unchanged, if it has the right form. */
export function matching(placeholder: string, form: RegExp, expected: string, write: string) {
  return oneText(placeholder, (seen) => (form.test(seen) ? seen : new Refusal(expected, write)));
}

/** Returns a kind that reads several texts in the same way, up to the first that is refused. */
export function eachText<T>(
  arity: 'list' | 'repeated',
  placeholder: string,
  parse: ParseText<T>,
): ValueKind<readonly T[]> {
  return {
    arity,
    placeholder,
    isPath: false,
    choices: [],
    parse(texts) {
      const values: T[] = [];
      for (const text of texts) {
        const value = parse(text);
        if (value instanceof Refusal) return value;
        values.push(value);
      }
      return values;
    },
  };
}

/** Quotes a text, cut to a readable length. */
export function quote(seen: string): string {
  return JSON.stringify(seen.length > 60 ? `${seen.slice(0, 60)}…` : seen);
}

/** Any text but a blank one. */
export function text(placeholder: string): ValueKind<string> {
  return matching(placeholder, /\S/, 'a text', `something in place of ${placeholder}`);
}

export function path(placeholder: 'FILE' | 'DIR'): ValueKind<string> {
  return { ...text(placeholder), isPath: true };
}

/** Files or folders, one for each flag. */
export function paths(placeholder: 'FILE' | 'DIR'): ValueKind<readonly string[]> {
  const one = path(placeholder);
  return { ...eachText('repeated', placeholder, (seen) => one.parse([seen])), isPath: true };
}

/** One of a few words, all shown in usage lines unless `placeholder` is shorter. */
export function choice<const T extends string>(
  choices: readonly T[],
  placeholder = choices.join('|'),
): ValueKind<T> {
  const write = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  return { ...oneText(placeholder, (seen) => oneOf(choices, seen, write)), choices };
}

export const scoreValue = oneText('SCORE', (seen) =>
  /^(?:0|1|[01]?\.\d+)$/.test(seen) && Number(seen) <= 1
    ? Number(seen)
    : new Refusal('a quality score', 'a number from 0 to 1', undefined, '0.33'),
);

export function someOf<const T extends string>(choices: readonly T[]): ValueKind<readonly T[]> {
  const all = choices.join(',');
  const write = `some of them, separated by commas, for example ${all}`;
  return { ...eachText('list', all, (seen) => oneOf(choices, seen, write)), choices };
}

function oneOf<T extends string>(choices: readonly T[], seen: string, write: string): T | Refusal {
  const found = choices.find((each) => each === seen);
  return found ?? new Refusal(`one of ${choices.join(', ')}`, write, nearest(seen, choices));
}

function boolean(seen: string, words: readonly [string, string]): boolean | Refusal {
  if (/^(true|yes|on|1)$/i.test(seen)) return true;
  if (/^(false|no|off|0)$/i.test(seen)) return false;
  return new Refusal(words.join(' or '), words.join(' or '), nearest(seen, words));
}

/** A switch: the flag has no value, but environment and file say `true` or `false`. */
export const yesOrNo: ValueKind<boolean> & { readonly arity: 'switch' } = {
  ...oneText('', (seen) => boolean(seen, ['true', 'false'])),
  arity: 'switch',
};

/** A whole number within inclusive bounds; no sign, blanks or exponent. */
export function count(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  const expected = `a whole number ${range}`;
  const example = String(Math.min(Math.max(min, 100), max));
  return oneText('N', (seen) => {
    const value = /^\d{1,16}$/.test(seen) ? Number(seen) : Number.NaN;
    return value >= min && value <= max ? value : new Refusal(expected, expected, undefined, example);
  });
}

const MS_OF_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads `500ms`, `40s`, `15m`, `2h` or `7d` into milliseconds; NaN for other texts. */
function parseDurationMs(seen: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(seen) ?? [];
  return Number(digits) * (MS_OF_UNIT[unit] ?? Number.NaN);
}

/** Formats a duration with the largest unit that divides it: 604800000 is `7d`, 1500 `1500ms`. */
export function formatDuration(ms: number): string {
  const units = Object.entries(MS_OF_UNIT).reverse();
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

const EXAMPLE_MS = 10_000;

/** A duration in milliseconds within inclusive bounds, which are written as durations. */
export function duration(min: string, max: string): ValueKind<number> {
  const [minMs, maxMs] = [parseDurationMs(min), parseDurationMs(max)];
  const example = minMs <= EXAMPLE_MS && EXAMPLE_MS <= maxMs ? formatDuration(EXAMPLE_MS) : max;
  const write = `a whole number and its unit (ms, s, m, h, d), from ${min} to ${max}`;
  return oneText('DURATION', (seen) => {
    const ms = parseDurationMs(seen);
    if (ms >= minMs && ms <= maxMs) return ms;
    const expected = Number.isNaN(ms) ? 'a duration' : `a duration from ${min} to ${max}`;
    return new Refusal(expected, write, undefined, example);
  });
}

export const month = matching(
  'YYYY-MM',
  /^\d{4}-(0[1-9]|1[0-2])$/,
  'a month',
  'year and month with two digits, for example 2026-11',
);

/** Names separated by commas and optional blanks. An empty name is refused. */
export function listOf(placeholder: string, example: string): ValueKind<readonly string[]> {
  const refusal = new Refusal('a list without gaps', `names separated by commas, for example ${example}`);
  return eachText('list', placeholder, (seen) => seen.trim() || refusal);
}

/** `KEY=VALUE` texts; whoever reads the setting checks the keys. */
export const keyValues = eachText('repeated', 'KEY=VALUE', (seen) =>
  /^[^=\s]+=\S+$/.test(seen)
    ? seen
    : new Refusal('a key and its value', 'KEY=VALUE, for example latency=100ms'),
);

/** Enough for any budget, and few enough for exact arithmetic in whole billionths. */
const DECIMAL = /^\d{1,12}(\.\d{1,9})?$/;

/** An exact decimal, as text so that 0.3 stays 0.3. No sign, exponent or separators. */
export function decimal(example: string, sign: 'positive' | 'not negative'): ValueKind<string> {
  const expected = sign === 'positive' ? 'an amount above zero' : 'an amount';
  const refusal = new Refusal(expected, `digits, with a point before the fraction, for example ${example}`);
  return oneText('AMOUNT', (seen) =>
    DECIMAL.test(seen) && (sign === 'not negative' || isPositiveDecimal(seen)) ? seen : refusal,
  );
}

export function isPositiveDecimal(decimalText: string): boolean {
  return /[1-9]/.test(decimalText);
}

/** Requests per second, up to three decimals; 0 for no limit. */
export const ratePerSecond = oneText('N', (seen) =>
  /^\d{1,6}(\.\d{1,3})?$/.test(seen)
    ? Number(seen)
    : new Refusal('a number of requests per second', 'for example 50, or 0 for no limit'),
);

/** When the quota renews: each month (UTC), never, or on a day of the month. */
export const billingPeriod = oneText('month|none|DAY', (seen): 'month' | 'none' | number | Refusal => {
  if (seen === 'month' || seen === 'none') return seen;
  const day = /^\d{1,2}$/.test(seen) ? Number(seen) : 0;
  if (day >= 1 && day <= 28) return day;
  return new Refusal('a billing period', 'month, none, or the day of the month on which it renews, 1 to 28');
});

/** Statuses such as `402` or `5xx`. 200 is refused: if it were free, brands would have no limit. */
export const statuses = eachText('list', 'LIST', (seen) => {
  const status = seen.trim().toLowerCase();
  if (/^([1-5]\d\d|[345]xx)$/.test(status) && status !== '200') return status;
  const write = 'statuses other than 200, separated by commas, for example 204,400,402,5xx';
  return new Refusal('a list of statuses', write);
});

/** The failed lookups that end a run, as a count or a share. */
type ErrorLimit =
  | { readonly type: 'count'; readonly count: number }
  | { readonly type: 'percent'; readonly percent: number };

/** Reads a share from 0% to 100%; null for other texts. */
function percentIn(seen: string): number | null {
  const percent = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(seen)?.[1];
  return percent === undefined || Number(percent) > 100 ? null : Number(percent);
}

export const errorLimit = oneText('N|N%', (seen): ErrorLimit | Refusal => {
  const percent = percentIn(seen);
  if (percent !== null) return { type: 'percent', percent };
  if (/^\d{1,12}$/.test(seen)) return { type: 'count', count: Number(seen) };
  const write = 'a whole number or a share from 0% to 100%, for example 100 or 5%';
  return new Refusal('a number of errors', write);
});

/** In percent; 0 switches the check off. */
export const matchShare = oneText('N%', (seen): number | Refusal => {
  const write = 'a share from 0% to 100%, for example 30%, or 0 for no check';
  return (seen === '0' ? 0 : percentIn(seen)) ?? new Refusal('a share of matches', write);
});
