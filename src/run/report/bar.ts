/** A flat bar of one or more parts, drawn as SVG, because the page forbids inline styles. The numbers stand beside it. */
import { html, type Markup } from './markup.js';

export interface BarPart {
  readonly share: number;
  /** Class that colours it. */
  readonly tone: string;
}

/** Shares of a whole of 1, from the left. What is not nothing is wide enough to be seen. */
export function bar(parts: readonly BarPart[]): Markup {
  let x = 0;
  const drawn = parts
    .filter(({ share }) => share > 0)
    .map(({ share, tone }) => {
      const width = Math.min(100 - x, Math.max(share * 100, 0.8));
      const rect = html`<rect class="${tone}" x="${rounded(x)}" width="${rounded(width)}" height="8"/>`;
      x += width;
      return rect;
    });
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${drawn}</svg>`;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
