/** Compares the name in a row with the brand's: the only sign of a wrong match. */
import { load } from '../../core/load.js';

const { jaroWinkler } = load('@skyra/jaro-winkler') as typeof import('@skyra/jaro-winkler');

/** Lower matches go to the errors file: unrelated names hardly reach 0.7, related ones pass 0.8. */
export const LOW_NAME_MATCH = 0.75;

/** For a name that is part of the other (`Telekom`, `Deutsche Telekom`) or its initials (`IBM`). */
const PART_OF_NAME = 0.9;

/** Legal forms of companies, as `wordsOf` spells them; they are not compared. */
const LEGAL_FORMS = new Set(
  (
    'ab ad ag aktiengesellschaft as asa bhd bv bvba co company corp corporation cv doo dooel ead eg ehf ' +
    'eood eurl gbr gesellschaft gmbh hf inc incorporated jsc kb kft kg kgaa kk lda limited llc llp lp ltd ' +
    'ltda mbh nv nyrt oao ohg ood ooo ou oy oyj pao pjsc plc pt pte pty pvt sa sab sae sal saoc sapi sarl ' +
    'sas sasu sca sdn se sia sl slu snc sp spa spol spzoo srl sro tbk uab ug vof zao zrt'
  ).split(' '),
);
const FILLERS = new Set(['and', 'the', 'und', 'et', 'y', 'e', 'i', 'ir']);

/** Plain spellings of letters that normalisation does not split. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/** Returns the Jaro-Winkler similarity of two company names, 0 to 1; null if one is blank. */
export function matchNames(one: string, other: string): number | null {
  const [left, right] = [wordsOf(one), wordsOf(other)];
  if (left.length === 0 || right.length === 0) return null;
  const [few, many] = left.length < right.length ? [left, right] : [right, left];
  const isPart = few.every((word) => many.includes(word));
  const isShort = few.length === 1 && many.length > 2 && few[0] === many.map((word) => word[0]).join('');
  const alike = Math.max(
    jaroWinkler(left.join(' '), right.join(' ')),
    jaroWinkler(left.toSorted().join(' '), right.toSorted().join(' ')),
    isPart || isShort ? PART_OF_NAME : 0,
  );
  return Math.round(Math.min(alike, 1) * 100) / 100;
}

/** Returns the words that tell companies apart, or all words if none does. */
function wordsOf(name: string): string[] {
  const folded = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => PLAIN[letter] ?? letter)
    .replace(/['’`]/g, '')
    // `S.A.`, `A/S`, `d.o.o.`
    .replace(/(?<=(?<![\p{L}\p{N}])\p{L})[./](?=\p{L}(?![\p{L}\p{N}]))/gu, '')
    .replace(/(?<!\p{L})sp\W{0,2}z\W{0,2}o\W?o(?!\p{L})/gu, 'spzoo');
  const words = folded.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const telling = words.filter((word) => !LEGAL_FORMS.has(word) && !FILLERS.has(word));
  return telling.length > 0 ? telling : words;
}

/** Says why a brand may be another company; null if the names match or cannot be compared. */
export function nameDoubtOf(match: number | null, brandName: string): string | null {
  if (match === null || match >= LOW_NAME_MATCH) return null;
  const shown = brandName.length > 100 ? `${brandName.slice(0, 99)}…` : brandName;
  return (
    `the brand is called "${shown}" (name match ${match}, below ${LOW_NAME_MATCH}): perhaps another ` +
    'company'
  );
}
