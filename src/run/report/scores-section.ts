/**
 * The histogram of quality scores in thirds. The table is the truth: it is read without script, and the script draws
 * its chart from it.
 */

import { countOf, countText } from '../../core/figures.js';
import type { QualityTier } from '../../lookup/brand.js';
import { shareText } from './figures-text.js';
import { html, type Markup } from './markup.js';
import type { ReportFigures } from './page-data.js';

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
<div class="canvas-room" hidden><canvas role="img" aria-label="${sentence}"></canvas></div>
<details open><summary>The numbers of the chart</summary>
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
