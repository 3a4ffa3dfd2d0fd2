/**
 * HTML that data cannot break: text becomes markup only through the `html` template, which escapes every
 * value that is not markup already.
 */
import { createHash } from 'node:crypto';

/** A piece of finished HTML. Made by `html` and by `trusted`, so that a plain text is never taken for one. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template may be filled with: text is escaped, lists are joined, null and false leave nothing. */
export type Filling = Markup | string | number | null | false | readonly Filling[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Control characters show nothing and are not allowed in HTML; a lone surrogate half cannot be written as UTF-8.
 * Both become the replacement character.
 */
const UNWRITABLE = /(?![\t\n\r])[\p{Cc}\p{Surrogate}]/gu;

/** Text as it may stand between tags and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replace(UNWRITABLE, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** HTML that is part of the program. Never give it anything that was read. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

/** The template: `` html`<p>${text}</p>` ``. Attributes must be quoted. */
export function html(parts: TemplateStringsArray, ...fillings: readonly Filling[]): Markup {
  let text = parts[0] ?? '';
  for (const [at, filling] of fillings.entries()) text += render(filling) + (parts[at + 1] ?? '');
  return new Markup(text);
}

function render(filling: Filling): string {
  if (filling === null || filling === false) return '';
  if (filling instanceof Markup) return filling.text;
  if (typeof filling === 'object') return filling.map(render).join('');
  return escapeHtml(String(filling));
}

/**
 * A script as it may stand inside a `script` element: it cannot end it, and names no source map, which a browser's tools would
 * ask for.
 */
export function inlineScript(text: string): string {
  return text
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
    .replace(/\r\n?/g, '\n')
    .replace(/<(?=\/script|!--)/gi, '\\x3c');
}

/** Source expression of a `Content-Security-Policy` that allows exactly this text. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

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
