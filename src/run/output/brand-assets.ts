/**
 * Which of several logos, colours or industries stands in the one cell that there is. Brands are read tolerantly:
 * any field may be absent, null or of another type than the specification says.
 */
import type { Brand } from '../../lookup/brand.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Vector first, then lossless; formats unknown to this list come last. */
const FORMAT_ORDER = ['svg', 'png', 'webp', 'jpeg'];
/** `dark` is the rendition in dark ink, which reads on the white ground of a sheet or page. */
const THEME_ORDER = ['dark', null, 'light'];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The elements that are objects; none for anything that is not an array. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function placeIn(order: readonly unknown[], value: unknown): number {
  const place = order.indexOf(value ?? null);
  return place < 0 ? order.length : place;
}

/**
 * Address of the best file among these logos or images: theme first (dark, none said, light), then format
 * (svg, png, webp, jpeg), then width. Null when no file has an address.
 */
export function bestFile(assets: readonly JsonObject[]): string | null {
  let best: { readonly src: string; readonly place: number; readonly width: number } | null = null;
  for (const asset of assets) {
    for (const file of objectsIn(asset.formats)) {
      if (typeof file.src !== 'string' || file.src === '') continue;
      const place = placeIn(THEME_ORDER, asset.theme) * 10 + placeIn(FORMAT_ORDER, file.format);
      const width = typeof file.width === 'number' ? file.width : 0;
      if (best === null || place < best.place || (place === best.place && width > best.width)) {
        best = { src: file.src, place, width };
      }
    }
  }
  return best?.src ?? null;
}

function bestOfTypes(brand: Brand, types: readonly string[]): string | null {
  const logos = objectsIn(brand.logos);
  for (const type of types) {
    const src = bestFile(logos.filter((logo) => logo.type === type));
    if (src !== null) return src;
  }
  return null;
}

/** A logo proper, else a symbol; icons have a column of their own. */
export function bestLogo(brand: Brand): string | null {
  return bestOfTypes(brand, ['logo', 'symbol']);
}

export function bestIcon(brand: Brand): string | null {
  return bestOfTypes(brand, ['icon']);
}

/** The accent colour, else the first colour that has a value. */
export function mainColor(brand: Brand): unknown {
  const colors = objectsIn(brand.colors).filter((color) => typeof color.hex === 'string' && color.hex !== '');
  return (colors.find((color) => color.type === 'accent') ?? colors[0])?.hex ?? null;
}

/** Name of the industry with the highest score (the first of equals), its slug where it has no name. */
export function mainIndustry(brand: Brand): unknown {
  let best: JsonObject | null = null;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const industry of objectsIn(isObject(brand.company) ? brand.company.industries : null)) {
    const score = typeof industry.score === 'number' ? industry.score : Number.NEGATIVE_INFINITY;
    if (best === null || score > bestScore) {
      best = industry;
      bestScore = score;
    }
  }
  return best?.name ?? best?.slug ?? null;
}
