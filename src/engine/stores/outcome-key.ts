/** The key of an outcome, short because Redis stores one for each. Equal keys are one purchase. */
import { createHash } from 'node:crypto';
import type { AllowNsfw } from '../../brand-api/protocol.js';
import type { IdentifierKind } from '../../core/identifier.js';
import type { OutcomeKey } from '../../core/outcome.js';

/** Returns a stable name of a service: 42 bits of the hash of its base URL. */
export function serviceTag(service: string): string {
  return createHash('sha256').update(service).digest('base64url').slice(0, 7);
}

const NSFW_LETTER: Record<AllowNsfw, string> = { unset: 'u', true: 't', false: 'f' };

const KIND_LETTER: Record<IdentifierKind, string> = {
  domain: 'd',
  ticker: 't',
  isin: 'i',
  crypto: 'c',
  id: 'b',
  auto: 'a',
};
const LETTERS: ReadonlyMap<string, string> = new Map(Object.entries(KIND_LETTER));

const lettersOf = (letters: object) => `[${Object.values(letters).join('')}]`;
const KEY = new RegExp(`^[\\w-]{7}:${lettersOf(NSFW_LETTER)}${lettersOf(KIND_LETTER)}:.`);

/** True if a text has the form of an identifier's key. */
export const isOutcomeKey = (text: string): boolean => KEY.test(text);

/** Returns the key for the text form of an identifier, `kind:value`. */
export type OutcomeKeyOf = (identifierText: string) => OutcomeKey;

/** Returns a maker of keys like `QNOY4ew:ud:acme.com`. Foreign texts get keys of no identifier. */
export function outcomeKeys(service: string, allowNsfw: AllowNsfw): OutcomeKeyOf {
  const prefix = `${serviceTag(service)}:${NSFW_LETTER[allowNsfw]}`;
  return (text) => {
    const colon = text.indexOf(':');
    const letter = colon < 0 ? undefined : LETTERS.get(text.slice(0, colon));
    return prefix + (letter === undefined ? `:${text}` : letter + text.slice(colon));
  };
}
