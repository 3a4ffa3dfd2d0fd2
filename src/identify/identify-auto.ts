/**
 * Cells of which nothing is known beforehand. What is certain locally goes to its own kind; the rest is `auto` and the
 * service decides, since more than half of all exchange suffixes are top-level domains too (`SAP.DE`, `BHP.AX`).
 */

import type { Identified } from '../core/identifier.js';
import { identifyIsin, isMistypedIsin, readIsin } from '../core/isin.js';
import { identifyBrandId, isCertainBrandId, isPossibleBrandId } from './brand-id.js';
import { skipBlank } from './clean-cell.js';
import { identifyDomain, mentionsDomain } from './identify-domain.js';
import { identifySymbol, withoutCashtag } from './symbol.js';

/** A web address, an e-mail address, or a host that says `www`. */
const CERTAIN_DOMAIN = /@|:\/\/|^www\.|^\/\/|^mailto:/i;
/** Longer top-level domains (`.com`, `.shop`) are no exchange suffix. */
const LONGEST_EXCHANGE_SUFFIX = 2;
const WRITTEN_LIKE_TICKER = /^[A-Z0-9.-]+$/;

/** `cell` comes from `cleanCell`. Nothing with an `@` in it ever leaves as `auto`. */
export function identifyAuto(cell: string): Identified {
  const cleaned = withoutCashtag(cell);
  const blank = skipBlank(cleaned, 'auto');
  if (blank !== null) return blank;
  if (isCertainBrandId(cleaned)) return identifyBrandId(cleaned);
  if (readIsin(cleaned) !== null || isMistypedIsin(cleaned)) return identifyIsin(cleaned);
  const asDomain = identifyDomain(cleaned);
  if (CERTAIN_DOMAIN.test(cleaned)) return asDomain;
  if (asDomain.type === 'identifier') return openDomain(cleaned, asDomain.identifier.value);
  if (isPossibleBrandId(cleaned)) return auto(cleaned);
  if (mentionsDomain(cleaned)) return asDomain;
  const asSymbol = identifySymbol(cleaned, 'crypto');
  if (asSymbol.type === 'identifier') return auto(asSymbol.identifier.value);
  return { type: 'invalid', reason: 'not a domain, ticker, ISIN, crypto symbol or brand id' };
}

/**
 * A bare host is a domain when its suffix is too long for an exchange's. Else it stays open: in capitals as it stands,
 * for it may be a ticker, otherwise as the registrable domain, so that two spellings are one identifier.
 */
function openDomain(cleaned: string, domain: string): Identified {
  const topLevel = domain.slice(domain.lastIndexOf('.') + 1);
  if (topLevel.length > LONGEST_EXCHANGE_SUFFIX)
    return { type: 'identifier', identifier: { kind: 'domain', value: domain } };
  return auto(WRITTEN_LIKE_TICKER.test(cleaned) ? cleaned.replace(/^\.+|\.+$/g, '') : domain);
}

function auto(value: string): Identified {
  return { type: 'identifier', identifier: { kind: 'auto', value } };
}
