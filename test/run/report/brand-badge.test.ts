import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Badge, hexColor, initialsOf, inkOn } from '../../../src/run/report/brands-section.js';
import { htmlOf } from '../../../src/run/report/kit/page.js';
import { PIXEL } from './pages.js';

it.each([
  ['#f40009', '#f40009'],
  ['#F40009', '#f40009'],
  ['f40009', '#f40009'],
  [' #f40009 ', '#f40009'],
  ['#abc', '#aabbcc'],
  ['#abcd', '#aabbcc'],
  ['#f4000980', '#f40009'],
  ['#f4000', null],
  ['red', null],
  ['rgb(1,2,3)', null],
  ['#fff" onload="alert(1)', null],
  ['#fff;background:url(//x)', null],
  ['', null],
  [null, null],
])('the colour %j is %j', (color, expected) => {
  expect(hexColor(color)).toBe(expected);
});

it('a colour of any text is hexadecimal or null', () => {
  fc.assert(
    fc.property(fc.string(), (color) => {
      expect(hexColor(color) ?? '#000000').toMatch(/^#[0-9a-f]{6}$/);
    }),
  );
});

it.each([
  ['#ffffff', '#000000'],
  ['#ffd400', '#000000'],
  ['#1db954', '#000000'],
  ['#f40009', '#ffffff'],
  ['#0071e3', '#ffffff'],
  ['#000000', '#ffffff'],
])('letters on %s are %s', (ground, ink) => {
  expect(inkOn(ground)).toBe(ink);
});

it.each([
  ['Acme', 'AC'],
  ['Blue Heron', 'BH'],
  ['Blue Heron of the North', 'BH'],
  ['Coca-Cola', 'CC'],
  ['  7th street', '7S'],
  ['été', 'ÉT'],
  ['日本', '日本'],
  ['x', 'X'],
  ['𝒜cme', '𝒜C'],
  ['<script>', 'SC'],
  ['!!!', '?'],
  ['', '?'],
])('the initials of %j are %j', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

describe('a badge', () => {
  const acme = { name: 'Acme', color: '#f40009', logo: null };
  const badge = (parts: { color?: string | null; logo?: string | null } = {}) =>
    htmlOf(Badge({ brand: { ...acme, ...parts } }));

  it('shows the initials on the brand colour', () => {
    const text = badge();
    expect(text).toContain('fill="#f40009"');
    expect(text).toContain('fill="#ffffff">AC</text>');
  });

  it('is plain without a colour, and is the embedded logo, if there is one', () => {
    expect(badge({ color: 'url(#x)' })).not.toContain('url');
    expect(badge({ color: null })).toContain('class="blank"');
    expect(badge({ logo: PIXEL })).toContain(`<img class="badge" src="${PIXEL}" alt=""`);
  });

  it.each([
    'https://a.example/logo.png',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml,<svg/>',
    'data:image/png;base64,AA" onerror="x',
    'javascript:alert(1)',
  ])('shows initials instead of %s', (logo) => {
    expect(badge({ logo })).toMatch(/^<svg class="badge".*AC<\/text><\/svg>$/);
  });
});
