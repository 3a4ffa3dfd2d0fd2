/**
 * One cell, as its column's kind says: the way into the kinds. Which column has which kind is `choose-columns.ts`'s.
 */

import type { Identified, IdentifierKind } from '../core/identifier.js';
import { identifyIsin } from '../core/isin.js';
import { identifyBrandId } from './brand-id.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { identifyAuto } from './identify-auto.js';
import { identifyDomain } from './identify-domain.js';
import { identifySymbol } from './symbol.js';

/**
 * Never throws, whatever the text. Values are in normal form: identifying one again with the same kind gives the
 * same identifier. Reasons are plain words for the user and never quote the cell, so nothing private leaks into
 * reports; `auto` answers the kind that is certain locally, else kind `auto`.
 */
export function identifyCell(text: string, kind: IdentifierKind): Identified {
  const cleaned = cleanCell(text);
  return skipBlank(cleaned, kind) ?? identifyCleaned(cleaned, kind);
}

function identifyCleaned(cleaned: string, kind: IdentifierKind): Identified {
  switch (kind) {
    case 'domain':
      return identifyDomain(cleaned);
    case 'isin':
      return identifyIsin(cleaned);
    case 'ticker':
    case 'crypto':
      return identifySymbol(cleaned, kind);
    case 'id':
      return identifyBrandId(cleaned);
    case 'auto':
      return identifyAuto(cleaned);
  }
}
