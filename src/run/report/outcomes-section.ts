/**
 * How many rows came to each outcome, and what each outcome means.
 */
import { countText } from '../../core/figures.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from '../../core/outcome.js';
import { bar } from './bar.js';
import { shareText } from './figures-text.js';
import { html, type Markup } from './markup.js';
import type { ReportFigures } from './page-data.js';

const MEANINGS: Readonly<Record<OutcomeStatus, { readonly name: string; readonly meaning: string }>> = {
  matched: { name: 'Matched', meaning: 'The service knows the brand; its data stands in the row.' },
  not_found: { name: 'Not found', meaning: 'Asked; the service has no such brand, or withholds it.' },
  failed: { name: 'Failed', meaning: 'Asked, without a usable answer. Running again asks once more.' },
  invalid: { name: 'Invalid', meaning: 'Nothing that can be asked for. No request was spent.' },
  skipped: {
    name: 'Skipped',
    meaning: 'Blank, or an address at a free mail provider. No request was spent.',
  },
  deferred: { name: 'Deferred', meaning: 'Not asked, because the run stopped first. Running again goes on.' },
};

export function outcomesSection({ rows, input }: ReportFigures): Markup {
  return html`<section class="card" aria-labelledby="outcomes">
<h2 id="outcomes">Rows by outcome</h2>
<table class="outcomes">
<thead><tr><th scope="col">Outcome</th><th scope="col" class="number">Rows</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>${OUTCOME_STATUSES.map((status) => outcomeRow(status, rows[status], input.records))}</tbody>
<tfoot><tr><th scope="row">All rows of the file</th><td class="number">${countText(input.records)}</td><td></td></tr></tfoot>
</table>
</section>`;
}

function outcomeRow(status: OutcomeStatus, count: number, records: number): Markup {
  const { name, meaning } = MEANINGS[status];
  const share = records === 0 ? 0 : count / records;
  return html`<tr${count === 0 ? html` class="none"` : null}>
<th scope="row"><span class="dot ${status}"></span>${name}<span class="meaning">${meaning}</span>${count > 0 && bar([{ share, tone: status }])}</th>
<td class="number">${countText(count)}</td><td class="number share">${count === 0 ? '' : shareText(count, records)}</td></tr>
`;
}
