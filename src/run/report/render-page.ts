/** The report of a run as one self-contained HTML text, which may request nothing. Pure. */
import {
  countOf,
  countText,
  durationText,
  momentText,
  moneyText,
  sentenceOf,
  shareText,
} from '../../core/figures.js';
import { brandsSection } from './brands-section.js';
import { headlineOf, verdictOf } from './headline.js';
import { html, inlineScript, keyFigures, type Mark, type Markup, pageOf, policyOf } from './markup.js';
import type { PageData } from './page-data.js';
import { PAGE_SCRIPT } from './page-script.js';
import type { RunReport } from './report.js';
import { rowsSection } from './rows-section.js';
import {
  causesSection,
  filesSection,
  moneySection,
  outcomesSection,
  perBrand,
  scoresSection,
} from './sections.js';

/** `chartLibrary`: Chart.js 4 for browsers as text that defines `Chart`; empty: a table instead. */
export function renderPage(data: PageData, chartLibrary: string): string {
  const { report } = data;
  const scripts = [inlineScript(chartLibrary), PAGE_SCRIPT];
  const [label, tone] = verdictOf(report);
  const { next } = report;
  const { name } = report.input;
  const body = html`<header>
<p class="eyebrow">brand-enrich report · ${momentText(report.endedAt)}</p>
<div class="title"><h1><bdi>${name}</bdi></h1><span class="verdict ${tone}">${label}</span></div>
<p class="headline">${headlineOf(report)}</p>
${next !== null && html`<p class="next">${sentenceOf(next)}</p>`}
${
  data.isSample &&
  html`<p class="warning">Sample data: the brands and scores on this page come from the built-in catalogue, not from a service, and nothing was spent.</p>`
}
</header>
<main>
${figuresOf(report, tone)}
<div class="pair">
${outcomesSection(report)}
${scoresSection(report)}
</div>
${brandsSection(data)}
${causesSection(report)}
${moneySection(report)}
${filesSection(data)}
${rowsSection(report)}
</main>
<footer>
<p class="note">Run ${report.run.id}, ${durationText(report.seconds)}, from ${momentText(report.startedAt)} to ${momentText(report.endedAt)}. Input sha256 ${report.input.sha256}.</p>
</footer>`;
  const policy = policyOf(scripts, ["form-action 'none'"]);
  const head = html`<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">`;
  return pageOf({ title: `${name}: brand-enrich report`, head, body, scripts });
}

/**
 * The `Content-Security-Policy` for a page of this program that others may have changed: its own
 * scripts alone run. The style may be that of another release.
 */
export function pagePolicyOf(chartLibrary: string): string {
  const more = ["form-action 'none'", "frame-ancestors 'none'"];
  const policy = policyOf([inlineScript(chartLibrary), PAGE_SCRIPT], more);
  return policy.replace(/style-src [^;]+/, "style-src 'unsafe-inline'");
}

function figuresOf({ rows, input, requests, account, currency, cost }: RunReport, tone: Mark[1]): Markup {
  const { records } = input;
  const share = records > 0 ? `, ${shareText(rows.matched, records)}` : '';
  const { savedByDuplicates, savedByStored } = requests;
  const saved = `${countText(savedByDuplicates)} by duplicates, ${countText(savedByStored)} stored`;
  return keyFigures([
    ['Rows with a brand', countText(rows.matched), `of ${countText(records)}${share}`, tone],
    ['Requests billed', countText(requests.billed), `of ${countText(requests.sent)} sent`],
    [
      'Billed per brand',
      cost.brands === 0 ? '–' : perBrand(cost.run.requests, cost.brands),
      countOf(cost.brands, 'brand'),
    ],
    [
      'Overage cost',
      moneyText(requests.overageCost, currency),
      `${countOf(requests.overage, 'request')} beyond the quota`,
    ],
    ['Requests saved', countText(savedByDuplicates + savedByStored), saved],
    ['Limit used', ...limitUsed(account)],
  ]);
}

function limitUsed(account: RunReport['account']): [figure: string, below: string] {
  if (account === null) return ['–', 'no lookups'];
  const { limit, cap } = account;
  const used = account.sent + account.inFlight + account.others;
  if (limit === null) return [countText(used), 'no quota reported'];
  return [
    shareText(used, limit) || countText(used),
    `${countText(used)} of ${countText(limit)}${cap === null ? '' : ' (-\u2060-\u2060quota)'}`,
  ];
}
