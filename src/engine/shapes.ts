/**
 * What an engine must answer. Another program with access to it can put anything there. By hand,
 * since short commands read answers too, and a library of shapes takes longer to load than they
 * run.
 */

export type Check = (value: unknown) => boolean;
/** A check for every property that must be there. */
type Shape<T> = { readonly [Name in keyof T]-?: Check };

export const isText: Check = (value) => typeof value === 'string';
export const isFlag: Check = (value) => typeof value === 'boolean';
export const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
export const isCount: Check = (value) => isNumber(value) && Number(value) >= 0;
export const isNone: Check = (value) => value === null;
export const absent: Check = (value) => value === undefined;
export const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
/** One of the words that are the names of `words`: the compiler lists those that are missing. */
export const oneOf =
  <W extends string>(words: Readonly<Record<W, true>>): Check =>
  (value) =>
    typeof value === 'string' && Object.hasOwn(words, value);
export const like =
  <T>(shape: Shape<T>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(shape).every(([name, check]) =>
      (check as Check)((value as Record<string, unknown>)[name]),
    );
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** A list of as many, each of its own kind. */
export const tuple =
  (...checks: readonly Check[]): Check =>
  (value) =>
    Array.isArray(value) &&
    value.length === checks.length &&
    checks.every((check, index) => check(value[index]));
export const textLike =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);

export const someCount = either(isNone, isCount);
