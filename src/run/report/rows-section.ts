/** The first rows without a brand, as people look them up in their file. */
import { countOf, countText } from '../../core/figures.js';
import { card, html, type Markup } from './markup.js';
import type { RunReport } from './report.js';

const LISTS = [
  ['not_found', 'Rows not found', 'Identifier'],
  ['failed', 'Rows that failed', 'Identifier'],
  ['invalid', 'Invalid rows', 'Cell'],
] as const;

type ListName = (typeof LISTS)[number][0];

/** The id of a list's heading. */
export function listId(status: string): string {
  return `rows-${status}`;
}

/** A card for each status that has rows. */
export function rowsSection(report: RunReport): Markup[] {
  return LISTS.filter(([status]) => report.listed[status].length > 0).map(([status, title, value]) => {
    const shown = report.listed[status];
    const all = report.rows[status];
    const counted =
      shown.length < all ? `The first ${shown.length} of ${countOf(all, 'row')}` : countOf(all, 'row');
    // A reason that all share is said once.
    const [reason, ...others] = new Set(shown.map((row) => row.reason));
    const column = (cell: Markup) => others.length > 0 && cell;
    const rows = shown.map(
      (
        row,
      ) => html`<tr><td class="line">${countText(row.line)}</td><td><bdi>${row.value}</bdi></td>${column(html`<td><bdi>${row.reason}</bdi></td>`)}</tr>
`,
    );
    const list = html`<details open><summary>${counted}${others.length === 0 && html`: <bdi>${reason ?? ''}</bdi>`}</summary>
<table class="listed">
<thead><tr><th scope="col" class="line">Line</th><th scope="col">${value}</th>${column(html`<th scope="col">Reason</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></details>
<p class="note">${whereAll(status, all - shown.length, report)}</p>`;
    return card(listId(status), title, list, { more: 'rows' });
  });
}

function whereAll(status: ListName, hidden: number, { files, rows }: RunReport): Markup {
  const more = hidden > 0 && `${countText(hidden)} more are not shown. `;
  const all = rows[status] === 1 ? 'It is' : 'All are';
  if (status !== 'not_found' && files.errors !== null)
    return html`${more}${all} in <bdi>${files.errors}</bdi>.`;
  const inErrors = html` With <code>--errors-include not_found</code> the errors file has them too.`;
  return html`${more}${all} in the enriched file, with the status <code>${status}</code>.${status === 'not_found' && inErrors}`;
}
