/**
 * Brand ids of the service. The specification says prefix `id_`; ids seen in the wild are `id` and eight more, which
 * is also the shape of an ordinary word ("identifier"). Case matters and is kept.
 */
import type { Identified } from '../core/identifier.js';

/** Specification, "Endpoints": the prefix `id_` followed by characters. The longest accepted here is 64. */
const CERTAIN = /^id_[A-Za-z0-9_-]{1,61}$/;
/** Seen in answers of a live service. */
const IN_THE_WILD = /^id[A-Za-z0-9_-]{8}$/;

/** A brand id whatever the column says. */
export function isCertainBrandId(cleaned: string): boolean {
  return CERTAIN.test(cleaned);
}

/** A brand id if the column holds brand ids. */
export function isPossibleBrandId(cleaned: string): boolean {
  return CERTAIN.test(cleaned) || IN_THE_WILD.test(cleaned);
}

export function identifyBrandId(cleaned: string): Identified {
  if (isPossibleBrandId(cleaned)) return { type: 'identifier', identifier: { kind: 'id', value: cleaned } };
  return {
    type: 'invalid',
    reason: 'not a brand id (id_ and more, or id and eight characters; case matters)',
  };
}
