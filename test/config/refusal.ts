import { NeverStartError } from '../../src/core/errors.js';

/** The error that the action throws; throws when it succeeds. */
export function refusal(action: () => unknown): NeverStartError {
  try {
    action();
  } catch (error) {
    if (error instanceof NeverStartError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
