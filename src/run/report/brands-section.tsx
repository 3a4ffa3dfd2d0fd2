/** The brands with the best and lowest scores. SVG, because the page forbids inline styles. */
import { qualityTier } from '../../brand-api/brand.js';
import { scoreText } from '../../core/figures.js';
import { Card } from './kit/parts.js';
import type { PageData, ShownBrand } from './portable-report.js';

/** Shows nothing without a scored brand. */
export function BrandsSection({ data: { best, lowest } }: { data: PageData }) {
  if (best.length === 0) return null;
  return (
    <div class="pair">
      <BrandList id="best" title={lowest.length === 0 ? 'Brands by score' : 'Best scores'} brands={best} />
      {lowest.length > 0 && <BrandList id="lowest" title="Lowest scores" brands={lowest} />}
    </div>
  );
}

function BrandList(list: { id: string; title: string; brands: readonly ShownBrand[] }) {
  return (
    <Card id={list.id} title={list.title}>
      <ol class="brands">
        {list.brands.map((brand) => (
          <BrandItem brand={brand} />
        ))}
      </ol>
    </Card>
  );
}

function BrandItem({ brand }: { brand: ShownBrand }) {
  const tier = qualityTier(brand.score);
  const { industry, country } = brand;
  return (
    <li>
      <Badge brand={brand} />
      <span class="brand">
        <bdi class="brand-name">{brand.name}</bdi>
        {brand.domain !== null && <Domain text={brand.domain} />}
      </span>
      <span class="about">
        {industry !== null && <bdi>{industry}</bdi>}
        {country !== null && <bdi>{country}</bdi>}
      </span>
      <span class={`score ${tier}`}>
        {scoreText(brand.score)}
        <span class="unseen">, {tier}</span>
      </span>
    </li>
  );
}

/** Links a plain domain only, because the text comes from the service. */
function Domain({ text }: { text: string }) {
  const href = siteOf(text);
  if (href === null) return <bdi class="brand-domain">{text}</bdi>;
  return (
    <a class="brand-domain" href={href} rel="noopener noreferrer nofollow">
      <bdi>{text}</bdi>
    </a>
  );
}

/** Returns `https://acme.com/`; null for anything but a host with a dot. */
export function siteOf(domain: string): string | null {
  if (!/^[\p{L}\p{N}.-]+$/u.test(domain) || !domain.includes('.')) return null;
  const address = `https://${domain}`;
  if (!URL.canParse(address)) return null;
  const { hostname, href } = new URL(address);
  return /^[\d.]+$/.test(hostname) ? null : href;
}

const HEX = /^#?(?:([0-9a-f]{6})(?:[0-9a-f]{2})?|([0-9a-f]{3})[0-9a-f]?)$/i;

/** Returns `#rrggbb` in lower case, without transparency; null unless the colour is hexadecimal. */
export function hexColor(color: string | null): string | null {
  const [, long, short] = HEX.exec(color?.trim() ?? '') ?? [];
  const digits = long ?? short?.replace(/./g, '$&$&');
  return digits === undefined ? null : `#${digits.toLowerCase()}`;
}

/** Returns the relative luminance, 0 to 1 (WCAG 2.2). `hex`: `#rrggbb`. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns white, as brands expect, unless its contrast is below 3 to 1 (WCAG 2.2, large text). */
export function inkOn(hex: string): '#000000' | '#ffffff' {
  return 1.05 / (luminance(hex) + 0.05) >= 3 ? '#ffffff' : '#000000';
}

/** Returns initials of two words, or two letters of a single one; `?` without letter or digit. */
export function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  const [first, second] = words.map((word) => [...word]);
  const letters = second ? [first?.[0], second[0]] : (first?.slice(0, 2) ?? []);
  return letters.join('').toLocaleUpperCase('en-US') || '?';
}

/** Images as `fetch-logos.ts` makes them, which cannot run code. */
const IMAGE = /^data:image\/(png|jpeg|webp|gif|svg\+xml);base64,[A-Za-z0-9+/]+=*$/;

/** Shows logo or initials as decoration, since the name is beside them. */
export function Badge({ brand }: { brand: Pick<ShownBrand, 'name' | 'color' | 'logo'> }) {
  if (brand.logo !== null && IMAGE.test(brand.logo))
    return <img class="badge" src={brand.logo} alt="" width="40" height="40" />;
  const hex = hexColor(brand.color);
  const ground = hex === null ? { class: 'blank' } : { fill: hex };
  const ink = hex === null ? { class: 'blank-ink' } : { fill: inkOn(hex) };
  return (
    <svg class="badge" viewBox="0 0 40 40" width="40" height="40" aria-hidden="true">
      <rect width="40" height="40" rx="9" {...ground} />
      <text x="20" y="20" dy=".36em" text-anchor="middle" {...ink}>
        {initialsOf(brand.name)}
      </text>
    </svg>
  );
}
