/**
 * The queue in three numbers, with the way to Bull Board, and the stored answers.
 */
import { countText } from '../../core/figures.js';
import { momentText } from '../../run/report/figures-text.js';
import { html, type Markup } from '../../run/report/markup.js';
import type { DashboardData } from './dashboard-data.js';

/** Where Bull Board is mounted. */
export const QUEUE_PATH = '/queue';

export function queueSection({ queue, answers, ledger }: DashboardData): Markup {
  const pace = ledger?.pace.rate ?? null;
  return html`<div class="pair">
<section class="card" aria-labelledby="queue" data-part="queue">
<h2 id="queue">Queue</h2>
${
  queue === null
    ? html`<p class="empty">Shown once an account is named.</p>`
    : html`<dl>
<div><dt>Chunks waiting</dt><dd>${countText(queue.waiting ?? 0)}</dd></div>
<div><dt>In work</dt><dd>${countText(queue.active ?? 0)}</dd></div>
<div><dt>Parked until later</dt><dd>${countText(queue.delayed ?? 0)}</dd></div>
<div><dt>Pace of all workers</dt><dd>${pace === null ? 'unpaced' : `${pace.toFixed(1)} a second`}</dd></div>
</dl>`
}
<p class="note">A chunk holds up to 50 identifiers. <a href="${QUEUE_PATH}/">Look into the queue</a></p>
</section>
<section class="card" aria-labelledby="answers" data-part="answers">
<h2 id="answers">Stored answers</h2>
${
  answers.oldestFetchedAt === null || answers.newestFetchedAt === null
    ? html`<p class="empty">None yet. What was paid for is kept, and not bought twice.</p>`
    : html`<dl>
<div><dt>Matched</dt><dd>${countText(answers.matched)}</dd></div>
<div><dt>Not found</dt><dd>${countText(answers.notFound)}</dd></div>
<div><dt>Oldest</dt><dd>${momentText(new Date(answers.oldestFetchedAt).toISOString())}</dd></div>
<div><dt>Newest</dt><dd>${momentText(new Date(answers.newestFetchedAt).toISOString())}</dd></div>
</dl>`
}
</section>
</div>`;
}
