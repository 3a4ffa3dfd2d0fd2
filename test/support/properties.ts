/** What properties over random cases share. */
import fc from 'fast-check';

/** Marks a property of which `npm test` tries a fifth of the cases, and `npm run test:long` all. */
export const CASES = { tags: ['cases'] };

export function casesOf(all: number): number {
  return process.env.CASES === 'all' ? all : Math.ceil(all / 5);
}

/** A fifth of them, others for each start; all where all cases are tried. */
export function sampleOf<T>(all: readonly T[], start: number): readonly T[] {
  return process.env.CASES === 'all' ? all : all.filter((_, at) => (at + start) % 5 === 0);
}

/** A choice of `fc.oneof`, by its weight. */
export const share = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

/** A character in a JavaScript text; that of fast-check needs a second to begin. */
const CHARACTER = fc.nat(0x10_f7ff).map((at) => String.fromCodePoint(at < 0xd800 ? at : at + 0x800));

export function anyText(bounds: { readonly minLength?: number; readonly maxLength?: number } = {}) {
  return fc.string({ ...bounds, unit: CHARACTER });
}
