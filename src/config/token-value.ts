/**
 * The kind of value that a token is: one line that an HTTP header can carry. Nothing here quotes it.
 */
import type { ValueKind } from './value-kind.js';
import { accepted, oneText, refused } from './value-kind.js';

/** Longer ones are files named by mistake. */
const LONGEST_TOKEN = 4_096;

/** Trimmed. The word Bearer is refused rather than cut off, so that everybody knows what the token is. */
export const tokenValue: ValueKind<string> = oneText('TOKEN', (seen) => {
  const token = seen.trim();
  if (/^bearer\s/i.test(token))
    return refused('a token', 'it without the word Bearer, which is added on sending');
  const isRight = token.length <= LONGEST_TOKEN && /^[\x21-\x7e]+$/.test(token);
  return isRight
    ? accepted(token)
    : refused('a token', 'one line of letters, digits and signs without blanks');
});
