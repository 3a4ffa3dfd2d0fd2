/** The data of the test service, from the specification and what is known of live answers. */
import { createHash } from 'node:crypto';

export type ServiceKind = 'domain' | 'ticker' | 'isin' | 'crypto' | 'generic';

/** A number from 0 (included) to 1 that depends on the words alone. */
export function shareOf(...words: readonly string[]): number {
  return createHash('sha256').update(words.join('\n')).digest().readUInt32BE(0) / 2 ** 32;
}

/** Whether the service has a brand under this identifier; one in ten is unknown. */
export function isKnown(kind: ServiceKind, value: string): boolean {
  return shareOf('known', kind, value) >= 0.1;
}

/** The score of a known brand; null for one in twenty, whose answer lacks it or says null. */
export function scoreOf(kind: ServiceKind, value: string): number | null {
  if (shareOf('unscored', kind, value) < 0.05) return null;
  return Math.round(shareOf('score', kind, value) * 10_000) / 10_000;
}

/**
 * The body of a 200, exactly as the service sends it; null for an unknown identifier. It contains
 * numbers that a careless reader changes (`12345678901234567890`, `1.10`), line ends, and a field
 * that is not in the specification.
 */
export function profileText(kind: ServiceKind, value: string): string | null {
  if (!isKnown(kind, value)) return null;
  const hash = createHash('sha256').update(`${kind}:${value}`).digest('hex');
  const score = scoreOf(kind, value);
  const domain = kind === 'domain' ? value : `${hash.slice(0, 12)}.com`;
  const fields: string[] = [
    `"id":"id${hash.slice(0, 8)}"`,
    `"name":${JSON.stringify(`Brand "${value}" – Ünïted, Ltd.`)}`,
    `"domain":${JSON.stringify(domain)}`,
    `"claimed":${shareOf('claimed', value) < 0.5}`,
    `"description":${JSON.stringify(`=SUM(A1) of ${value}\nsecond line, with a comma`)}`,
    '"longDescription":null',
    `"links":[{"name":"twitter","url":"https://social.example/${hash.slice(0, 6)}"}]`,
    `"logos":[{"theme":"dark","type":"icon","tags":[],"formats":[{"src":"https://assets.example/${hash.slice(0, 8)}.svg?c=key","background":null,"format":"svg","height":null,"size":1.10}]}]`,
    '"colors":[{"hex":"#0a1b2c","type":"accent","brightness":23}]',
    '"fonts":[{"name":null,"type":"title","origin":"google","originId":null,"weights":[]}]',
    '"images":[]',
    ...companyText(hash, value),
    '"isNsfw":false',
    `"urn":"urn:brand:${hash.slice(0, 12)}"`,
    '"serial":12345678901234567890',
    '"ratio":1.10',
  ];
  if (score !== null) fields.push(`"qualityScore":${score}`);
  else if (shareOf('null score', value) < 0.5) fields.push('"qualityScore":null');
  return `{${fields.join(', ')}}`;
}

/** Companies are complete, null, with null leaves, or absent. */
function companyText(hash: string, value: string): string[] {
  const share = shareOf('company', value);
  if (share < 0.1) return [];
  if (share < 0.2) return ['"company":null'];
  if (share < 0.3)
    return ['"company":{"employees":null,"foundedYear":null,"industries":null,"location":null}'];
  const parent = share < 0.6 ? 'null' : '{"id":"p1","slug":"finance","name":"Finance","emoji":"F"}';
  return [
    `"company":{"employees":51,"financialIdentifiers":{"isin":[],"ticker":[]},"foundedYear":${1900 + (hash.charCodeAt(0) % 100)},"industries":[{"id":"i1","score":0.5,"slug":"banks","name":"Banks","emoji":"B","parent":${parent}}],"kind":"PUBLIC_COMPANY","location":{"city":"Zürich","country":"Switzerland","countryCode":"CH","region":"Europe","state":null,"subregion":"Western Europe"}}`,
  ];
}
