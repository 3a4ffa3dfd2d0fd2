/** The key of an outcome: service, allowNsfw, kind and value. Equal keys are one purchase. */
import { createHash } from 'node:crypto';
import { type Identifier, identifierText } from '../core/identifier.js';
import type { OutcomeKey } from '../core/outcome.js';
import type { AllowNsfw } from '../lookup/protocol.js';

/** Short, stable name of a service: 10 hex digits of the hash of its base URL. */
export function serviceTag(service: string): string {
  return createHash('sha256').update(service).digest('hex').slice(0, 10);
}

const NSFW_LETTER: Record<AllowNsfw, string> = { unset: 'u', true: 't', false: 'f' };

/** What all keys of one service and `allowNsfw` setting begin with. */
export function outcomeKeyPrefix(service: string, allowNsfw: AllowNsfw): string {
  return `${serviceTag(service)}:${NSFW_LETTER[allowNsfw]}:`;
}

/** Throws nothing; values are used as they are, so they must be normalised already. */
export function outcomeKey(prefix: string, identifier: Identifier): OutcomeKey {
  return prefix + identifierText(identifier);
}
