/**
 * HTML that cannot be broken by data: text becomes markup only through the `html` template, which escapes every value
 * that is not markup already. What the page says is for the sections.
 */

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
