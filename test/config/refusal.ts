import { NeverStartError } from '../../src/core/errors.js';

/** What the action refuses with; throws when it refuses nothing. */
export function refusal(action: () => unknown): NeverStartError {
  try {
    action();
  } catch (error) {
    if (error instanceof NeverStartError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
