/**
 * How a brand is kept: the service's JSON as it came, deflated with a preset dictionary, because
 * single answers are too short to compress well on their own (2 kB become about 450 bytes instead
 * of 800).
 *
 * A packed answer begins with one byte that names its form. The dictionary is part of form 1 and
 * must never change, or stored answers are lost; another dictionary is another form.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { attempt } from '../core/lifecycle.js';
import type { Brand } from '../lookup/brand.js';

/** Answers of the service are at most 1 MiB long. What unpacks to more is not one of them. */
const LONGEST_PROFILE = 4 * 1_048_576;

const PLAIN = 0;
const DEFLATED_1 = 1;

/** Rare to frequent: deflate reaches the end of a dictionary with the shortest distances. */
const DICTIONARY_1 = Buffer.from(
  [
    '"PARTNERSHIP","SELF_EMPLOYED","SELF_OWNED","GOVERNMENT_AGENCY","NON_PROFIT","EDUCATIONAL"',
    '"Africa","Oceania","Asia","Latin America","Europe","Northern America","Western Europe","Eastern Asia"',
    '"Spain","Italy","Netherlands","Sweden","Switzerland","Japan","China","India","Canada","Australia","France","Germany","United Kingdom","United States"',
    '"countryCode":"ES","countryCode":"IT","countryCode":"NL","countryCode":"CH","countryCode":"JP","countryCode":"CN","countryCode":"CA","countryCode":"FR","countryCode":"DE","countryCode":"GB","countryCode":"US"',
    '"slug":"internet","name":"Internet","slug":"software","name":"Software","slug":"finance","name":"Finance","slug":"retail","name":"Retail","slug":"technology","name":"Technology"',
    'https://crunchbase.com/organization/https://github.com/https://www.youtube.com/https://instagram.com/https://facebook.com/https://linkedin.com/company/https://twitter.com/',
    '{"name":"crunchbase","url":"https://{"name":"github","url":"https://{"name":"youtube","url":"https://{"name":"instagram","url":"https://{"name":"facebook","url":"https://{"name":"linkedin","url":"https://{"name":"twitter","url":"https://twitter.com/',
    ' is a company that provides services and products for the world, founded in and based in . The company ',
    '"tags":["photographic","portrait"],"weights":[400,500,600,700],"origin":"custom","originId":null},{"name":"","type":"body","origin":"google","originId":"","weights":[]}],"fonts":[{"name":"Inter","type":"title","origin":"google","originId":"Inter","weights":[]}',
    '{"hex":"#ffffff","type":"light","brightness":255},{"hex":"#000000","type":"dark","brightness":0},{"hex":"#","type":"brand","brightness":{"hex":"#","type":"accent","brightness":',
    '"images":[{"formats":[{"src":"https://","background":null,"format":"jpeg","height":,"width":,"size":}],"tags":[],"type":"banner"}]',
    '"logos":[{"theme":"light","formats":[{"src":"https://","background":"transparent","format":"svg","height":null,"width":null,"size":},{"src":"https://","background":"transparent","format":"webp","height":400,"width":400,"size":},{"src":"https://","background":"transparent","format":"png","height":400,"width":400,"size":}],"tags":[],"type":"symbol"},{"theme":"dark","formats":[{"src":"https://","format":"svg","height":48,"width":48,"size":,"background":"transparent"}],"tags":[],"type":"logo"},{"theme":"dark","formats":[{"src":"https://asset.","format":"png","height":,"width":,"size":}],"tags":[],"type":"icon"}]',
    '"company":{"employees":10001,"financialIdentifiers":{"isin":["US"],"ticker":[""]},"foundedYear":19,"foundedYear":20,"industries":[{"score":0.,"id":"","name":"","emoji":"","slug":"","parent":[{"id":"","slug":"","name":"","emoji":""}]}],"kind":"PRIVATELY_HELD","kind":"PUBLIC_COMPANY","location":{"city":"","country":"","countryCode":"","region":"","state":"","subregion":""}}',
    '{"id":"id_","name":"","domain":".com","claimed":true,"claimed":false,"description":"","longDescription":"","links":[],"logos":[],"colors":[],"fonts":[],"images":[],"qualityScore":0.,"company":{"isNsfw":false,"urn":"urn:brand:"}',
  ].join(''),
);

/** Packs the service's JSON. `compress` false keeps it plain: faster, about four times as large. */
export function packProfile(json: Buffer, compress: boolean): Buffer {
  if (!compress) return Buffer.concat([Buffer.from([PLAIN]), json]);
  const deflated = deflateRawSync(json, { dictionary: DICTIONARY_1, level: 6, memLevel: 8, windowBits: 13 });
  return Buffer.concat([Buffer.from([DEFLATED_1]), deflated]);
}

/** The JSON as the service sent it. Throws when the bytes are not a packed profile. */
export function unpackProfile(packed: Buffer): Buffer {
  const form = packed[0];
  if (form === PLAIN) return packed.subarray(1);
  if (form === DEFLATED_1) {
    const maxOutputLength = LONGEST_PROFILE;
    return inflateRawSync(packed.subarray(1), { dictionary: DICTIONARY_1, windowBits: 13, maxOutputLength });
  }
  throw new Error(`a stored answer has the unknown form ${String(form)}`);
}

/** A stored profile as text and object; null when it is damaged. */
export function readProfile(packed: Buffer): { readonly text: string; readonly brand: Brand } | null {
  const text = attempt(() => unpackProfile(packed).toString('utf8'), null);
  const brand: unknown = text === null ? null : attempt(() => JSON.parse(text), null);
  const isObject = typeof brand === 'object' && brand !== null && !Array.isArray(brand);
  return text !== null && isObject ? { text, brand: brand as Brand } : null;
}
