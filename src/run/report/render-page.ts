/**
 * The report of a run as one HTML text that needs nothing else: styles, scripts, charts and pictures are inside it, and
 * its security policy forbids it to ask anybody for anything. Pure; writing it is the pipeline's.
 */
import { countOf, countText, durationText, momentText, shareText } from '../../core/figures.js';
import { brandsSection } from './brands-section.js';
import { headlineOf, nextStepOf, verdictOf } from './headline.js';
import { hashSource, html, inlineScript, type Markup, trusted } from './markup.js';
import type { PageData, ReportFigures } from './page-data.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { causesSection, filesSection, moneySection, outcomesSection, scoresSection } from './sections.js';

/**
 * The whole page.
 * @param chartLibrary The minified browser build of Chart.js 4, as text; it defines `Chart`. The empty text leaves the
 *   table in the chart's place.
 */
export function renderPage(data: PageData, chartLibrary: string): string {
  const { report } = data;
  const scripts = [inlineScript(chartLibrary), PAGE_SCRIPT];
  const verdict = verdictOf(report);
  const next = nextStepOf(report);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(scripts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${fileName(report.input.name)}: brand-enrich report</title>
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<header>
<p class="eyebrow">brand-enrich report · ${momentText(report.endedAt)}</p>
<div class="title"><h1><bdi>${fileName(report.input.name)}</bdi></h1><span class="verdict ${verdict.tone}">${verdict.label}</span></div>
<p class="headline">${headlineOf(report)}</p>
${next !== null && html`<p class="next">${next}</p>`}
${
  data.isSample &&
  html`<p class="warning">Sample data: the brands and scores on this page come from the built-in catalogue, not from a service, and nothing was spent.</p>`
}
</header>
<main>
${keyFigures(report)}
<div class="pair">
${outcomesSection(report)}
${scoresSection(report)}
</div>
${brandsSection(data)}
${causesSection(report)}
${moneySection(report)}
${filesSection(data)}
</main>
<footer>
<p class="note">Run ${report.run.id}, ${durationText(report.seconds)}, from ${momentText(report.startedAt)} to ${momentText(report.endedAt)}. Input sha256 ${report.input.sha256}.</p>
</footer>
${scripts.map(
  (script) => html`<script>${trusted(script)}</script>
`,
)}</body>
</html>
`;
  return page.text;
}

/** The last part of a path of any system. */
function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}

function keyFigures({ rows, input, requests, account }: ReportFigures): Markup {
  const saved = requests.savedByDuplicates + requests.savedByStored;
  const used = account === null ? null : account.sent + account.inFlight + account.others;
  return html`<dl class="key" aria-label="Key figures">
<div><dt>Rows with a brand</dt><dd>${countText(rows.matched)}<span class="below">of ${countText(input.records)}${input.records > 0 && `, ${shareText(rows.matched, input.records)}`}</span></dd></div>
<div><dt>Requests billed</dt><dd>${countText(requests.billed)}<span class="below">of ${countText(requests.sent)} sent</span></dd></div>
<div><dt>Overage cost</dt><dd>${requests.overageCost}<span class="below">${countOf(requests.overage, 'request')} beyond the quota</span></dd></div>
<div><dt>Requests saved</dt><dd>${countText(saved)}<span class="below">${countText(requests.savedByDuplicates)} by duplicates, ${countText(requests.savedByStored)} stored</span></dd></div>
<div><dt>Limit used</dt><dd>${used === null || account === null ? '–' : account.limit === null ? countText(used) : shareText(used, account.limit) || countText(used)}<span class="below">${used === null || account === null ? 'nothing was asked' : account.limit === null ? 'no quota reported' : `${countText(used)} of ${countText(account.limit)}`}</span></dd></div>
</dl>`;
}

/** Only what stands here runs and colours; pictures only from inside; nothing is loaded, framed or sent. */
function policyFor(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map(hashSource).join(' ')}`,
    `style-src ${hashSource(PAGE_STYLE)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
