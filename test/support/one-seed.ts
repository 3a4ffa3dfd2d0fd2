/**
 * In CI every property gets the same cases, so that a commit that passed once passes again;
 * elsewhere others each time.
 */
import fc from 'fast-check';

if (process.env.CI) fc.configureGlobal({ seed: 1 });
