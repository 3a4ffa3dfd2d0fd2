/** Checks foreign values and gives them types; by hand, since a library takes long to load. */
import { isMoment } from './clock.js';
import { attempt } from './lifecycle.js';

/** Returns the value, without members that the shape does not name. Throws for another value. */
export type Shape<T> = (value: unknown) => T;
export type Shaped<S> = S extends Shape<infer T> ? T : never;

export type Fields = Readonly<Record<string, Shape<unknown>>>;
type Optional<F extends Fields> = {
  [Name in keyof F]: undefined extends Shaped<F[Name]> ? Name : never;
}[keyof F];
export type ObjectOf<F extends Fields> = {
  readonly [Name in Exclude<keyof F, Optional<F>>]: Shaped<F[Name]>;
} & { readonly [Name in Optional<F>]?: Exclude<Shaped<F[Name]>, undefined> };

/** Any value that passes `fits`. */
export function fitting<T>(fits: (value: unknown) => boolean): Shape<T> {
  return (value) => {
    if (fits(value)) return value as T;
    throw new TypeError('not of this shape');
  };
}

export const text = fitting<string>((value) => typeof value === 'string');
export const flag = fitting<boolean>((value) => typeof value === 'boolean');
export const number = fitting<number>(Number.isFinite);
export const count = fitting<number>((value) => Number.isFinite(value) && Number(value) >= 0);
export const whole = fitting<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0);
/** Milliseconds since 1970 that can be shown as a date. */
export const moment = fitting<number>(isMoment);
/** Also as text, as PostgreSQL returns large ones. */
export const integer: Shape<number> = (value) =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : number(value);
export const bytes = fitting<Uint8Array>((value) => value instanceof Uint8Array);

export const textLike = (pattern: RegExp) =>
  fitting<string>((value) => typeof value === 'string' && pattern.test(value));

export const word = <const W extends string>(...words: readonly W[]) =>
  fitting<W>((value) => words.some((each) => each === value));

export const nullOr =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value) =>
    value === null ? null : shape(value);

export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value) =>
    value === undefined ? undefined : shape(value);

const anyList = fitting<unknown[]>(Array.isArray);

export const list =
  <T>(shape: Shape<T>): Shape<readonly T[]> =>
  (value) =>
    anyList(value).map((each) => shape(each));

/** A list with exactly one value for each shape. */
export function tuple<S extends readonly Shape<unknown>[]>(...shapes: S) {
  return (value: unknown) => {
    const values = anyList(value);
    if (values.length !== shapes.length) throw new TypeError('wrong number of values');
    return shapes.map((shape, index) => shape(values[index])) as {
      readonly [Index in keyof S]: Shaped<S[Index]>;
    };
  };
}

const anyObject = fitting<Record<string, unknown>>((value) => typeof value === 'object' && value !== null);

export function object<F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  const shapes = Object.entries(fields);
  return (value) => {
    const members = anyObject(value);
    const checked: Record<string, unknown> = {};
    for (const [name, shape] of shapes) {
      const each = shape(members[name]);
      if (each !== undefined) checked[name] = each;
    }
    return checked as ObjectOf<F>;
  };
}

/** An object from a list of its values, in the order of `fields`. */
export function inOrder<F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  const names = Object.keys(fields);
  const shape = object(fields);
  return (value) => {
    const values = anyList(value);
    if (values.length !== names.length) throw new TypeError('wrong number of values');
    return shape(Object.fromEntries(names.map((name, at) => [name, values[at]])));
  };
}

/** An object with any names, each with a value of this shape. */
export const record =
  <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (value) =>
    Object.fromEntries(Object.entries(anyObject(value)).map(([name, each]) => [name, shape(each)]));

type Variants = Readonly<Record<string, Fields>>;
export type OneOf<Tag extends string, V extends Variants> = {
  [Word in keyof V]: { readonly [Name in Tag]: Word } & ObjectOf<V[Word]>;
}[keyof V];

/** An object whose property `tag` says which fields it has. */
export function oneOf<const Tag extends string, V extends Variants>(
  tag: Tag,
  variants: V,
): Shape<OneOf<Tag, V>> {
  const shapes = new Map(
    Object.entries(variants).map(([name, fields]) => [name, object({ [tag]: word(name), ...fields })]),
  );
  return (value) => {
    const shape = shapes.get(text(anyObject(value)[tag]));
    if (shape === undefined) throw new TypeError(`unknown ${tag}`);
    return shape(value) as OneOf<Tag, V>;
  };
}

/** A value of this shape, given as JSON text. */
export const inJson =
  <T>(shape: Shape<T>): Shape<T> =>
  (value) =>
    shape(JSON.parse(text(value)));

/** A value of this shape; any other becomes `other`. */
export const orElse =
  <T, const E>(shape: Shape<T>, other: E): Shape<T | E> =>
  (value) =>
    attempt(() => shape(value), other);
