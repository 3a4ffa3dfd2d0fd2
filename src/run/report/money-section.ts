/**
 * What the run spent, what it did not have to spend, what is left of the account, and how old the answers are.
 */

import { countOf, countText } from '../../core/figures.js';
import { bar } from './bar.js';
import { momentText, shareText } from './figures-text.js';
import { html, type Markup } from './markup.js';
import type { ReportFigures } from './page-data.js';

export function moneySection(report: ReportFigures): Markup {
  return html`<div class="trio">
${spent(report)}
${account(report)}
${ages(report)}
</div>`;
}

function spent({ requests, identifiers }: ReportFigures): Markup {
  const free = Math.max(0, requests.sent - requests.billed);
  return html`<section class="card" aria-labelledby="money">
<h2 id="money">Money</h2>
<dl>
<div><dt>Requests billed</dt><dd>${countText(requests.billed)}</dd></div>${
    requests.unreported > 0 &&
    html`
<div><dt>May have been billed besides, by workers that were killed</dt><dd>${countText(requests.unreported)}</dd></div>`
  }
${free > 0 && html`<div><dt>Requests that cost nothing</dt><dd>${countText(free)}</dd></div>`}
<div><dt>Billed beyond the quota</dt><dd>${countText(requests.overage)}</dd></div>
<div><dt>Overage cost</dt><dd>${requests.overageCost}</dd></div>
<div class="saved"><dt>Saved: rows with an identifier seen before</dt><dd>${countText(requests.savedByDuplicates)}</dd></div>
<div class="saved"><dt>Saved: answers that were stored</dt><dd>${countText(requests.savedByStored)}</dd></div>
</dl>
<p class="note">${countOf(identifiers.distinct, 'distinct identifier')} in the file. The cost is in the currency of the plan.</p>
</section>`;
}

function account({ account }: ReportFigures): Markup {
  if (account === null) {
    return card(html`<p class="muted">Nothing was asked, so the account was not looked at.</p>`);
  }
  const { quota, limit, sent, inFlight, others, period } = account;
  const used = sent + inFlight + others;
  const ofPeriod = period === null || period === 'none' ? '' : `Since ${period}. `;
  if (limit === null) {
    return card(html`<p><strong>${countOf(used, 'request')}</strong> used</p>
<p class="note">${ofPeriod}The service tells no quota.</p>`);
  }
  const whole = Math.max(limit, used, 1);
  return card(html`<p><strong>${countText(used)}</strong> of ${countText(limit)} used ${limit > 0 && html`<span class="muted">${shareText(used, limit)}</span>`}</p>
${bar([
  { share: (sent + inFlight) / whole, tone: 'ours' },
  { share: others / whole, tone: 'theirs' },
])}
<dl>
<div><dt><span class="dot ours"></span>by brand-enrich</dt><dd>${countText(sent + inFlight)}</dd></div>
<div><dt><span class="dot theirs"></span>by others</dt><dd>${countText(others)}</dd></div>
<div><dt>Left</dt><dd>${countText(Math.max(0, limit - used))}</dd></div>
${quota !== null && quota !== limit && html`<div><dt>Quota without overage</dt><dd>${countText(quota)}</dd></div>`}
</dl>
<p class="note">${ofPeriod}As of the end of the run.</p>`);
}

function card(content: Markup): Markup {
  return html`<section class="card" aria-labelledby="account">
<h2 id="account">Quota</h2>
${content}
</section>`;
}

function ages({ fetchedAt }: ReportFigures): Markup {
  const { oldest, newest, scoresMayHaveDrifted } = fetchedAt;
  return html`<section class="card" aria-labelledby="ages">
<h2 id="ages">Age of the answers</h2>
${
  oldest === null || newest === null
    ? html`<p class="muted">No answers.</p>`
    : html`<dl>
<div><dt>Oldest</dt><dd>${momentText(oldest)}</dd></div>
<div><dt>Newest</dt><dd>${momentText(newest)}</dd></div>
</dl>`
}
${scoresMayHaveDrifted && html`<p class="warning" role="note">Oldest and newest are more than 7 days apart. Scores change over time, so ranks may compare scores of different days; <code>--refresh</code> buys them anew.</p>`}
</section>`;
}
