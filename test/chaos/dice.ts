/** Repeatable randomness by one printed seed: `CHAOS_SEED=… npm run test:kills` repeats a run. */
import { randomInt } from 'node:crypto';

export interface Dice {
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
}

/** `test/vitest.chaos.config.ts` draws one for all files of a run. */
const SEED = readSeed(process.env.CHAOS_SEED ?? String(randomInt(2 ** 32)));

function readSeed(value: string): number {
  if (!/^\d{1,10}$/.test(value)) throw new Error(`CHAOS_SEED is a whole number, not ${value}`);
  return Number(value) >>> 0;
}

export function createDice(name: string): Dice {
  let state = SEED;
  for (const sign of name) state = Math.imul(state ^ (sign.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  console.log(`CHAOS_SEED=${SEED} for "${name}"`);
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    between,
    pick(list) {
      const picked = list[between(0, list.length - 1)];
      if (picked === undefined) throw new Error('nothing to pick from');
      return picked;
    },
  };
}
