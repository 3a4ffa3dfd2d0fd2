/** In CI every property gets the cases that the commit chooses, elsewhere others each time. */
import fc from 'fast-check';

if (process.env.CI) fc.configureGlobal({ seed: Math.trunc(Number(process.env.CHAOS_SEED ?? 1) / 2) });
