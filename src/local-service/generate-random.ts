/**
 * Repeatable chance for generated catalogues: a small generator of its own for every brand, so that brand 70,000
 * is the same whether or not the ones before it were made.
 */

export interface Chance {
  /** A fraction, 0 to 1, 1 excluded. */
  fraction(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** One of these. `choices` must not be empty. */
  pick<const C extends readonly [unknown, ...unknown[]]>(choices: C): C[number];
  /** So many hexadecimal digits. */
  hex(digits: number): string;
}

/** The chance of one brand: mulberry32 (Tommy Ettinger, public domain), started from seed and index mixed. */
export function createChance(seed: number, index: number): Chance {
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    between,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    hex(digits) {
      let text = '';
      for (let i = 0; i < digits; i += 1) text += between(0, 15).toString(16);
      return text;
    },
  };
}
