import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Brand } from '../../../src/brand-api/brand.js';
import { createBrandRanking, LISTED, lowestApart } from '../../../src/run/report/run-summary.js';

function rankingOf(...brands: readonly (readonly [score: number, brand: Brand])[]) {
  const ranking = createBrandRanking();
  for (const [index, [score, brand]] of brands.entries()) {
    ranking.note({ index, identifier: `domain:brand-${index}.example`, score, brand });
  }
  return ranking;
}

it('the ranking equals a sort of all brands', () => {
  const scores = fc.array(fc.integer({ min: 0, max: 20 }).map((score) => score / 20));
  fc.assert(
    fc.property(scores, (given) => {
      const ranking = rankingOf(...given.map((score) => [score, {}] as const));
      const sorted = [...given.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([index]) => index);
      const lowest = [...given.entries()].sort((a, b) => a[1] - b[1] || a[0] - b[0]).map(([index]) => index);
      expect(ranking.best.map(({ index }) => index)).toEqual(sorted.slice(0, LISTED));
      expect(ranking.lowest.map(({ index }) => index)).toEqual(lowest.slice(0, LISTED));
    }),
  );
});

it('the ranking keeps the order of the input for ties, in whatever order answers arrive', () => {
  const ranking = createBrandRanking();
  for (const index of [3, 1, 2]) ranking.note({ index, identifier: `ticker:T${index}`, score: 1, brand: {} });
  expect(ranking.best.map(({ index }) => index)).toEqual([1, 2, 3]);
});

it('the ranking lists a brand with two identifiers once, by its better score', () => {
  const acme = { id: 'id_acme', name: 'Acme' };
  const { best, lowest } = rankingOf([0.4, acme], [0.6, acme], [0.5, { id: 'id_other' }]);
  expect(best.map(({ key, score }) => [key, score])).toEqual([
    ['id_acme', 0.6],
    ['id_other', 0.5],
  ]);
  expect(lowest.map(({ key, score }) => [key, score])).toEqual([
    ['id_acme', 0.4],
    ['id_other', 0.5],
  ]);
});

it('the lowest brands exclude the best ones', () => {
  const few = rankingOf(...Array.from({ length: LISTED }, (_, at) => [at / 20, {}] as const));
  expect(lowestApart(few)).toEqual([]);
  const more = rankingOf(...Array.from({ length: LISTED + 3 }, (_, at) => [at / 20, {}] as const));
  expect(lowestApart(more).map(({ index }) => index)).toEqual([0, 1, 2]);
});

describe('of a brand', () => {
  const logo = (type: string, src: string) => ({ type, theme: 'dark', formats: [{ src, format: 'svg' }] });

  it('keeps what is shown', () => {
    const brand = {
      id: 'id_acme',
      name: ' Acme ',
      domain: 'acme.example',
      colors: [
        { hex: '#111111', type: 'dark' },
        { hex: '#f40009', type: 'accent' },
      ],
      company: {
        industries: [{ name: 'Tools', score: 1 }],
        location: { country: 'Lithuania', countryCode: 'LT' },
      },
      logos: [logo('logo', 'https://a.example/logo.svg'), logo('icon', 'https://a.example/icon.svg')],
    };
    expect(rankingOf([0.8, brand]).best).toEqual([
      {
        index: 0,
        key: 'id_acme',
        name: 'Acme',
        domain: 'acme.example',
        score: 0.8,
        color: '#f40009',
        industry: 'Tools',
        country: 'Lithuania',
        logoUrl: 'https://a.example/icon.svg',
      },
    ]);
  });

  it.each([
    ['without a name', { domain: 'acme.example' }, 'acme.example'],
    ['without name and domain', {}, 'brand-0.example'],
    ['whose name is a number', { name: 7 } as unknown as Brand, 'brand-0.example'],
    ['whose name is blank', { name: ' ', domain: null }, 'brand-0.example'],
  ])('%s: shows a substitute', (_, brand, name) => {
    expect(rankingOf([0.8, brand]).best[0]).toMatchObject({ name });
  });

  it.each([
    ['null', { colors: null, logos: null }],
    ['of another type', { colors: 'red', logos: [null, 3] } as unknown as Brand],
    ['adult content', { isNsfw: true, logos: [logo('icon', 'https://a.example/icon.svg')] }],
  ])('whose pictures are %s shows none', (_, brand) => {
    expect(rankingOf([0.8, brand]).best[0]).toMatchObject({ color: null, logoUrl: null });
  });

  it('truncates an overlong name', () => {
    expect(rankingOf([0.8, { name: 'x'.repeat(5_000) }]).best[0]?.name).toHaveLength(200);
  });
});
