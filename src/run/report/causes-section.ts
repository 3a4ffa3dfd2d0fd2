/**
 * Why lookups failed and why rows were not asked for, most frequent causes first.
 */
import { countOf, countText } from '../../core/figures.js';
import { html, type Markup } from './markup.js';
import type { ReportFigures } from './page-data.js';

/** Causes shown; what is beyond is summed up. */
const CAUSES_AT_MOST = 12;

/** Nothing where every row was asked for and answered. */
export function causesSection({ failures, reasons, rows, reason, input }: ReportFigures): Markup | null {
  const failed = Object.entries(failures);
  const unasked = Object.entries(reasons).filter(([cause]) => cause !== '');
  const cards = [
    failed.length > 0 &&
      causeCard('failures', 'Failed lookups by cause', 'Identifiers', failed, 'lookup', null),
    rows.deferred > 0 &&
      html`<section class="card" aria-labelledby="deferred">
<h2 id="deferred">Not asked yet</h2>
<p>${countOf(rows.deferred, 'row')}: <bdi>${reason ?? 'the run was stopped'}</bdi>.</p>
</section>`,
    unasked.length > 0 &&
      causeCard(
        'unasked',
        'Invalid and skipped rows by cause',
        'Rows',
        unasked,
        'row',
        examples(input.examples),
      ),
  ].filter((card) => card instanceof Object);
  return cards.length === 0 ? null : html`<div class="pair">${cards}</div>`;
}

function causeCard(
  id: string,
  title: string,
  counted: string,
  causes: readonly (readonly [string, number])[],
  unit: string,
  below: Markup | null,
): Markup {
  const sorted = [...causes].sort((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, CAUSES_AT_MOST);
  const others = sorted.slice(CAUSES_AT_MOST);
  const hidden = others.reduce((sum, [, count]) => sum + count, 0);
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<table class="causes">
<thead><tr><th scope="col">Cause</th><th scope="col" class="number">${counted}</th></tr></thead>
<tbody>${shown.map(
    ([cause, count]) =>
      html`<tr><td><bdi>${cause}</bdi></td><td class="number">${countText(count)}</td></tr>
`,
  )}</tbody>
</table>
${others.length > 0 && html`<p class="note">and ${countOf(others.length, 'more cause')} with ${countOf(hidden, unit)}</p>`}${below}
</section>`;
}

function examples(rows: ReportFigures['input']['examples']): Markup | null {
  if (rows.length === 0) return null;
  return html`<p class="note">For example ${rows.map(
    ({ line, reason }, at) => html`${at > 0 && '; '}line ${countText(line)}: <bdi>${reason}</bdi>`,
  )}.</p>`;
}
