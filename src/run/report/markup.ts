/** HTML that data cannot break: only `html` turns text into markup, escaping it. And page parts. */
import { createHash } from 'node:crypto';
import { STYLE } from './page-style.js';

/** Finished HTML. Only `html` and `trusted` make it, so that plain text never passes for it. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template accepts: text is escaped, lists are joined, null and false leave nothing. */
export type Filling = Markup | string | number | null | false | readonly Filling[];

const CODES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Not allowed in HTML, or not writable as UTF-8: becomes the replacement character. */
const UNWRITABLE = /(?![\t\n\r])[\p{Cc}\p{Surrogate}]/gu;

/** Text as it may stand between tags and inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(UNWRITABLE, '\ufffd').replace(/[&<>"']/g, (sign) => CODES[sign] ?? sign);
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

/** A script that cannot end its `script` element or make browsers request a source map. */
export function inlineScript(text: string): string {
  return text
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
    .replace(/\r\n?/g, '\n')
    .replace(/<(?=\/script|!--)/gi, '\\x3c');
}

/** A state: its word, and the class that colours it; `calm` is neither good nor bad. */
export type Mark = readonly [label: string, tone: 'good' | 'warn' | 'bad' | 'calm'];

/** Shares of 1, from the left, each with its colour class. Shares above 0 stay visible. */
export function bar(parts: readonly (readonly [tone: string, share: number])[]): Markup {
  const rounded = (value: number) => Math.round(value * 100) / 100;
  let x = 0;
  const drawn = parts.map(([tone, share]) => {
    if (share <= 0) return false;
    const width = Math.min(100 - x, Math.max(share * 100, 0.8));
    const rect = html`<rect class="${tone}" x="${rounded(x)}" width="${rounded(width)}" height="8"/>`;
    x += width;
    return rect;
  });
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${drawn}</svg>`;
}

/** A card with heading. `more`: further classes. `isPart`: an open page renews it (`data-part`). */
export function card(
  id: string,
  title: string,
  content: Filling,
  { more, isPart = false }: { readonly more?: string; readonly isPart?: boolean } = {},
): Markup {
  return html`<section class="card${more !== undefined && ` ${more}`}" aria-labelledby="${id}"${isPart && html` data-part="${id}"`}>
<h2 id="${id}">${title}</h2>
${content}
</section>`;
}

type Fact = readonly [term: Filling, value: Filling, className?: string] | false | null;

/** Terms with their descriptions; false ones are omitted. */
export function facts(rows: readonly Fact[], className?: string): Markup {
  const lines = rows.map(
    (row) =>
      row &&
      html`<div${row[2] !== undefined && html` class="${row[2]}"`}><dt>${row[0]}</dt><dd>${row[1]}</dd></div>
`,
  );
  return html`<dl${className !== undefined && html` class="${className}"`}>
${lines}</dl>`;
}

/** The figures that people look for first: a term, the figure, a line below it, and its tone. */
export function keyFigures(
  figures: readonly (readonly [term: string, figure: string, below: string, tone?: Mark[1]])[],
  isPart = false,
): Markup {
  const shown = figures.map(
    ([term, figure, below, tone]) =>
      html`<div${tone !== undefined && html` class="tone-${tone}"`}><dt>${term}</dt><dd>${figure}<span class="below">${below}</span></dd></div>
`,
  );
  return html`<dl class="key" aria-label="Key figures"${isPart && html` data-part="key"`}>
${shown}</dl>`;
}

/** A whole page: `scripts` run in their order, and nothing else runs or colours. */
export function pageOf(page: {
  readonly title: string;
  readonly head: Filling;
  readonly body: Filling;
  readonly scripts: readonly string[];
}): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${page.head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
${page.body}
${page.scripts.map(
  (script) => html`<script>${trusted(script)}</script>
`,
)}</body>
</html>
`.text;
}

/** A page's `Content-Security-Policy`: allows only what the page contains, and `more`. */
export function policyOf(scripts: readonly string[], more: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(hashSource).join(' ')}`,
    `style-src ${hashSource(STYLE)}`,
    'img-src data:',
    "base-uri 'none'",
    ...more,
  ].join('; ');
}

/** Source expression that allows exactly this text. */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
