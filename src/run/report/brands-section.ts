/**
 * The brands with the best and the lowest scores, each with its colour, initials or logo.
 */
import { qualityTier } from '../../lookup/brand.js';
import { badge, hexColor } from './brand-badge.js';
import { scoreText } from './figures-text.js';
import { html, type Markup } from './markup.js';
import type { PageData, ShownBrand } from './page-data.js';

/** Nothing where no brand has a score. */
export function brandsSection({ best, lowest }: PageData): Markup | null {
  if (best.length === 0) return null;
  return html`<div class="pair">
${brandList('best', lowest.length === 0 ? 'Brands by score' : 'Best scores', best)}
${lowest.length > 0 && brandList('lowest', 'Lowest scores', lowest)}
</div>`;
}

function brandList(id: string, title: string, brands: readonly ShownBrand[]): Markup {
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<ol class="brands">
${brands.map(brandItem)}</ol>
</section>`;
}

function brandItem(brand: ShownBrand): Markup {
  const hex = hexColor(brand.color);
  return html`<li>${badge(brand)}<span class="brand"><bdi class="brand-name">${brand.name}</bdi>${
    brand.domain !== null && html`<bdi class="brand-domain">${brand.domain}</bdi>`
  }</span>${
    hex !== null &&
    html`<span class="swatch"><svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" fill="${hex}"/></svg><span class="unseen">colour </span>${hex}</span>`
  }<span class="score ${qualityTier(brand.score)}">${scoreText(brand.score)}<span class="unseen">, ${qualityTier(brand.score)}</span></span></li>
`;
}
