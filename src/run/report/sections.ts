/**
 * The sections of the page: outcomes, scores, causes, money and files.
 */
import { countOf, countText, momentText, shareText } from '../../core/figures.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from '../../core/outcome.js';
import type { QualityTier } from '../../lookup/brand.js';
import { bar, html, type Markup } from './markup.js';
import type { PageData, ReportFigures, ShownFile } from './page-data.js';

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

const TIERS: readonly {
  readonly tier: QualityTier;
  readonly name: string;
  readonly range: string;
}[] = [
  { tier: 'high', name: 'High', range: '0.67 to 1' },
  { tier: 'acceptable', name: 'Acceptable', range: '0.33 to 0.67' },
  { tier: 'poor', name: 'Poor', range: '0 to 0.33' },
];

export function scoresSection({ quality }: ReportFigures): Markup {
  const { high, acceptable, poor, unscored, histogram } = quality;
  const scored = high + acceptable + poor;
  const total = scored + unscored;
  return html`<section class="card scores" aria-labelledby="scores">
<h2 id="scores">Quality of the brands</h2>
${scored === 0 ? html`<p class="muted">${unscored === 0 ? 'No brand was found, so there are no scores.' : `None of the ${countOf(unscored, 'brand')} has a score.`}</p>` : chart(histogram, chartSentence(quality))}
<ul class="tiers">
${TIERS.map(
  ({ tier, name, range }) =>
    html`<li><span class="dot ${tier}"></span><span class="tier-name">${name}</span> <span class="muted">${range}</span><span class="tier-count">${countText(quality[tier])} <span class="muted">${shareText(quality[tier], total)}</span></span></li>
`,
)}${
  unscored > 0 &&
  html`<li><span class="dot unscored"></span><span class="tier-name">Unscored</span> <span class="muted">no score sent</span><span class="tier-count">${countText(unscored)} <span class="muted">${shareText(unscored, total)}</span></span></li>
`
}</ul>
<p class="note">Distinct brands by <code>qualityScore</code>. A low score means that the brand is less likely to be real; a personal blog is at about 0.3 to 0.4.</p>
</section>`;
}

function chartSentence({ high, acceptable, poor }: ReportFigures['quality']): string {
  return `Histogram of quality scores: ${countText(high)} high, ${countText(acceptable)} acceptable, ${countText(poor)} poor.`;
}

function chart(histogram: readonly number[], sentence: string): Markup {
  const highest = Math.max(...histogram, 1);
  return html`<figure class="histogram">
<div class="canvas-box" hidden><canvas role="img" aria-label="${sentence}"></canvas></div>
<details open><summary>The chart as a table</summary>
<table class="bins"><caption class="unseen">${sentence}</caption>
<thead><tr><th scope="col">Score</th><th scope="col">Brands</th></tr></thead>
<tbody>${histogram.map((count, bin) => binRow(bin, histogram.length, count, highest))}</tbody>
</table></details>
</figure>`;
}

function binRow(bin: number, bins: number, count: number, highest: number): Markup {
  const tier: QualityTier = bin < bins / 3 ? 'poor' : bin < (bins * 2) / 3 ? 'acceptable' : 'high';
  const edge = (at: number) => (at / bins).toFixed(2);
  return html`<tr data-tier="${tier}" data-count="${count}"><th scope="row">${edge(bin)} to ${edge(bin + 1)}</th><td><svg class="bin" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="${tier}" width="${Math.round((count / highest) * 1_000) / 10}" height="8"/></svg>${countText(count)}</td></tr>
`;
}

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
    return card(html`<p class="muted">No request was sent, so the account was not read.</p>`);
  }
  const { quota, limit, sent, inFlight, others, period } = account;
  const used = sent + inFlight + others;
  const ofPeriod = period === null || period === 'none' ? '' : `Since ${period}. `;
  if (limit === null) {
    return card(html`<p><strong>${countOf(used, 'request')}</strong> used</p>
<p class="note">${ofPeriod}The service reports no quota.</p>`);
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

export function filesSection({ report, files }: PageData): Markup {
  const { accounting, input, run } = report;
  const columns = input.columns.map(({ name, kind }) => (kind === null ? name : `${name} (${kind})`));
  return html`<section class="card" aria-labelledby="files">
<h2 id="files">Files</h2>
<dl class="files">
<div><dt>Input</dt><dd><bdi>${input.name}</bdi></dd></div>
${files.map(fileLine)}
<div><dt>Identifiers from</dt><dd><bdi>${columns.join(', ')}</bdi></dd></div>
<div><dt>Service</dt><dd><bdi>${run.service}</bdi></dd></div>
<div><dt>Rows counted</dt><dd>${countText(accounting.recordsRead)} read, ${countText(accounting.rowsByStatus)} by outcome, ${accounting.recordsWritten === null ? 'not counted after writing' : `${countText(accounting.recordsWritten)} written`}</dd></div>
</dl>
${
  input.warnings.length > 0 &&
  html`<p class="note">Warnings about the input:</p><ul class="note">${input.warnings.map((warning) => html`<li><bdi>${warning}</bdi></li>`)}</ul>`
}
</section>`;
}

function fileLine({ label, path, href }: ShownFile): Markup {
  const name = href === null ? html`<bdi>${path}</bdi>` : html`<a href="${href}"><bdi>${path}</bdi></a>`;
  return html`<div><dt>${label}</dt><dd>${name}</dd></div>
`;
}
