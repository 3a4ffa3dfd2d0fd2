/** The sections of the page: outcomes, scores, causes, money and files. */
import { countOf, countText, momentText, moneyText, shareText } from '../../core/figures.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from '../../core/outcome.js';
import type { QualityTier } from '../../lookup/brand.js';
import { bar, card, facts, html, type Markup } from './markup.js';
import type { PageData } from './page-data.js';
import type { RunReport } from './report.js';
import { listId } from './rows-section.js';

const MEANINGS: Readonly<Record<OutcomeStatus, readonly [name: string, meaning: string]>> = {
  matched: ['Matched', 'The service knows the brand; its data is in the row.'],
  not_found: ['Not found', 'The service has no such brand, or withholds it.'],
  failed: ['Failed', 'There was no usable answer. Run again to retry.'],
  invalid: ['Invalid', 'No usable identifier. No request was sent.'],
  skipped: ['Skipped', 'Blank, or an address at a free e-mail provider. No request was sent.'],
  deferred: ['Deferred', 'Not looked up, because the run stopped first. Run again to continue.'],
};

export function outcomesSection({ rows, input, listed }: RunReport): Markup {
  const isListed = (status: string) =>
    Object.entries(listed).some(([each, { length }]) => each === status && length > 0);
  const table = html`<table class="outcomes">
<thead><tr><th scope="col">Outcome</th><th scope="col" class="number">Rows</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>${OUTCOME_STATUSES.map((status) => outcomeRow(status, rows[status], input.records, isListed(status)))}</tbody>
<tfoot><tr><th scope="row">All rows of the file</th><td class="number">${countText(input.records)}</td><td></td></tr></tfoot>
</table>`;
  return card('outcomes', 'Rows by outcome', table);
}

function outcomeRow(status: OutcomeStatus, count: number, records: number, isListed: boolean): Markup {
  const [word, meaning] = MEANINGS[status];
  const name = isListed && count > 0 ? html`<a href="#${listId(status)}">${word}</a>` : word;
  const share = records === 0 ? 0 : count / records;
  return html`<tr${count === 0 ? html` class="none"` : null}>
<th scope="row"><span class="dot ${status}"></span>${name}<span class="meaning">${meaning}</span>${count > 0 && bar([[status, share]])}</th>
<td class="number">${countText(count)}</td><td class="number share">${count === 0 ? '' : shareText(count, records)}</td></tr>
`;
}

export function scoresSection({ quality }: RunReport): Markup {
  const { high, acceptable, poor, unscored, histogram } = quality;
  const scored = high + acceptable + poor;
  const total = scored + unscored;
  const tier = (tone: string, name: string, range: string, count: number) =>
    html`<li><span class="dot ${tone}"></span><span class="tier-name">${name}</span> <span class="muted">${range}</span><span class="tier-count">${countText(count)} <span class="muted">${shareText(count, total)}</span></span></li>
`;
  const sentence = `Histogram of quality scores: ${countText(high)} high, ${countText(acceptable)} acceptable, ${countText(poor)} poor.`;
  const none =
    unscored === 0
      ? 'No brand was found, so there are no scores.'
      : `None of the ${countOf(unscored, 'brand')} has a score.`;
  const content = html`${scored === 0 ? html`<p class="muted">${none}</p>` : chart(histogram, sentence)}
<ul class="tiers">
${tier('high', 'High', '0.67 to 1', high)}${tier('acceptable', 'Acceptable', '0.33 to 0.67', acceptable)}${tier('poor', 'Poor', '0 to 0.33', poor)}${unscored > 0 && tier('unscored', 'Unscored', 'no score sent', unscored)}</ul>
<p class="note">Distinct brands by <code>qualityScore</code>. A low score means that the brand is less likely to be real; a personal blog is at about 0.3 to 0.4.</p>`;
  return card('scores', 'Quality of the brands', content, { more: 'scores' });
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

/** Ends that say no more than what they are. */
const WHY_STOPPED: Readonly<Partial<Record<RunReport['run']['status'], string>>> = {
  cancelled: 'the run was cancelled',
  declined: 'the run ended after its trial',
  too_many_failures: 'more lookups failed than --max-errors allows',
};

/** Empty if every row has an answer. */
export function causesSection({ failures, reasons, rows, reason, run }: RunReport): Markup | null {
  const failed = Object.entries(failures);
  const unasked = Object.entries(reasons).filter(([cause]) => cause !== '');
  const stopped = html`<p>${countOf(rows.deferred, 'row')}: <bdi>${reason ?? WHY_STOPPED[run.status] ?? 'the run was stopped'}</bdi>.</p>`;
  const cards = [
    failed.length > 0 &&
      card('failures', 'Failed lookups by cause', causeTable('Identifiers', failed, 'lookup')),
    rows.deferred > 0 && card('deferred', 'Not looked up yet', stopped),
    unasked.length > 0 &&
      card('unasked', 'Invalid and skipped rows by cause', causeTable('Rows', unasked, 'row')),
  ];
  return cards.some((each) => each) ? html`<div class="pair">${cards}</div>` : null;
}

function causeTable(counted: string, causes: readonly (readonly [string, number])[], unit: string): Markup {
  const sorted = [...causes].sort((a, b) => b[1] - a[1]);
  const others = sorted.slice(CAUSES_AT_MOST);
  const hidden = others.reduce((sum, [, count]) => sum + count, 0);
  return html`<table class="causes">
<thead><tr><th scope="col">Cause</th><th scope="col" class="number">${counted}</th></tr></thead>
<tbody>${sorted.slice(0, CAUSES_AT_MOST).map(
    ([cause, count]) => html`<tr><td><bdi>${cause}</bdi></td><td class="number">${countText(count)}</td></tr>
`,
  )}</tbody>
</table>
${others.length > 0 && html`<p class="note">and ${countOf(others.length, 'more cause')} with ${countOf(hidden, unit)}</p>`}`;
}

export function moneySection(report: RunReport): Markup {
  return html`<div class="trio">
${card('money', 'Money', spent(report))}
${card('account', 'Quota', account(report))}
${card('ages', 'Age of the answers', ages(report))}
</div>`;
}

function spent(report: RunReport): Markup {
  const { requests, identifiers, currency } = report;
  const free = requests.sent - requests.billed;
  const { unreported } = requests;
  const rows = facts([
    ['Requests billed', countText(requests.billed)],
    unreported > 0 && ['May also have been billed: their workers were killed', countText(unreported)],
    free > 0 && ['Requests that cost nothing', countText(free)],
    ['Billed beyond the quota', countText(requests.overage)],
    ['Overage cost', moneyText(requests.overageCost, currency)],
    ...perBrandFacts(report),
    ['Saved: duplicate rows', countText(requests.savedByDuplicates), 'saved'],
    ['Saved: stored answers', countText(requests.savedByStored), 'saved'],
  ]);
  return html`${rows}
<p class="note">${countOf(identifiers.distinct, 'distinct identifier')} in the file.${currency === null && ' The cost is in the currency of the plan.'}</p>`;
}

/** Money only for overage, whose price is known. */
function perBrandFacts({ cost, currency }: RunReport) {
  const { brands, run, inAll } = cost;
  if (brands === 0) return [];
  const parts = [
    ['', run] as const,
    ...(inAll.requests > run.requests ? [[', all starts', inAll] as const] : []),
  ];
  const money = (amount: string) => moneyText((Number(amount) / brands).toFixed(4), currency);
  return [
    ...parts.map(
      ([which, { requests }]) => [`Billed per brand${which}`, perBrand(requests, brands)] as const,
    ),
    ...parts
      .filter(([, { overage }]) => overage > 0)
      .map(([which, { overageCost }]) => [`Overage per brand${which}`, money(overageCost)] as const),
  ];
}

/** With two decimals. */
export function perBrand(requests: number, brands: number): string {
  const each = requests / brands;
  return each > 0 && each < 0.005 ? '< 0.01' : each.toFixed(2);
}

function account({ account }: RunReport): Markup {
  if (account === null) return html`<p class="muted">No request was sent: the account is unknown.</p>`;
  const { quota, limit, cap, sent, inFlight, others, period } = account;
  const ours = sent + inFlight;
  const used = ours + others;
  const ofPeriod = period === null || period === 'none' ? '' : `Since ${period}. `;
  if (limit === null) {
    return html`<p><strong>${countOf(used, 'request')}</strong> used</p>
<p class="note">${ofPeriod}The service reports no quota.</p>`;
  }
  const whole = Math.max(limit, used, 1);
  const share = limit > 0 && html`<span class="muted">${shareText(used, limit)}</span>`;
  const rows = facts([
    [html`<span class="dot ours"></span>by brand-enrich`, countText(ours)],
    [html`<span class="dot theirs"></span>by others`, countText(others)],
    ['Left', countText(Math.max(0, limit - used))],
    cap !== null && [html`Set with <code>--quota</code>`, countText(cap)],
    quota !== null &&
      quota !== limit && [cap === null ? 'Quota without overage' : 'Quota of the service', countText(quota)],
  ]);
  return html`<p><strong>${countText(used)}</strong> of ${countText(limit)} used ${share}</p>
${bar([
  ['ours', ours / whole],
  ['theirs', others / whole],
])}
${rows}
<p class="note">${ofPeriod}As of the end of the run.</p>`;
}

function ages({ fetchedAt: { oldest, newest, scoresMayHaveDrifted } }: RunReport): Markup {
  const rows = [['Oldest', momentText(oldest ?? '')] as const, ['Newest', momentText(newest ?? '')] as const];
  return html`${oldest === null ? html`<p class="muted">No answers.</p>` : facts(rows)}
${scoresMayHaveDrifted && html`<p class="warning" role="note">Oldest and newest are more than 7 days apart. Scores change over time, so ranks may compare scores of different days; <code>--refresh</code> fetches all of them again.</p>`}`;
}

export function filesSection({ report, files }: PageData): Markup {
  const { accounting, input, run } = report;
  const columns = input.columns.map(({ name, kind }) => (kind === null ? name : `${name} (${kind})`));
  const { recordsRead, rowsByStatus, recordsWritten } = accounting;
  const written =
    recordsWritten === null ? 'not counted after writing' : `${countText(recordsWritten)} written`;
  const text = (value: string) => html`<bdi>${value}</bdi>`;
  const rows = facts(
    [
      ['Input', text(input.name)],
      ...files.map(
        ({ label, name, href }) =>
          [label, href === null ? text(name) : html`<a href="${href}">${text(name)}</a>`] as const,
      ),
      ['Identifiers from', text(columns.join(', '))],
      ['Service', text(run.service)],
      ['Rows counted', `${countText(recordsRead)} read, ${countText(rowsByStatus)} by outcome, ${written}`],
    ],
    'files',
  );
  const warnings =
    input.warnings.length > 0 &&
    html`<p class="note">Warnings about the input:</p><ul class="note">${input.warnings.map((warning) => html`<li>${text(warning)}</li>`)}</ul>`;
  return card('files', 'Files', [rows, warnings]);
}
