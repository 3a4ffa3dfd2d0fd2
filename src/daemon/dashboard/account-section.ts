/**
 * The account: what of quota and budget is used, and where it will be when the period ends. The numbers stand as text; the
 * page's script draws its charts from the `data-` attributes beside them.
 */
import { countOf, countText, dayText, shareText } from '../../core/figures.js';
import { bar, html, type Markup } from '../../run/report/markup.js';
import type { DashboardData } from './dashboard-data.js';

/** One slice of a gauge: a tone of the style sheet, and its size. */
type Slice = readonly [tone: string, size: number];

export function accountSection(data: DashboardData): Markup {
  return html`<div class="trio gauges">
${gaugeCard('quota', 'Quota', quotaFigures(data))}
${gaugeCard('budget', 'Overage budget', budgetFigures(data))}
<section class="card" aria-labelledby="projection">
<h2 id="projection">End of the period</h2>
<div class="canvas-box line-box" data-for="projection" hidden><canvas role="img" aria-label="Requests used in this period, how it goes on at this rate, and the limit"></canvas></div>
${projection(data)}
</section>
</div>`;
}

function gaugeCard(name: string, title: string, figures: Markup): Markup {
  return html`<section class="card gauge" aria-labelledby="${name}">
<h2 id="${name}">${title}</h2>
<div class="canvas-box" data-for="${name}" hidden><canvas role="img" aria-label="${title}: the numbers stand below"></canvas></div>
${figures}
</section>`;
}

function quotaFigures({ ledger, limit, account }: DashboardData): Markup {
  if (ledger === null) {
    return html`<div data-part="quota"><p class="empty">${account === null ? 'No account is named: give the service and its token.' : 'Nothing is known of the account yet.'}</p></div>`;
  }
  const { sent, held, others, quota } = ledger;
  const ours = sent + held;
  const used = ours + others;
  if (limit === null) {
    return html`<div data-part="quota"><p><strong class="big">${countText(used)}</strong> used</p>
<p class="empty">No quota is known: it is read from the answers of the service.</p></div>`;
  }
  const left = Math.max(0, limit - used);
  const tone = toneOf(used, limit);
  const overage = quota === null ? 0 : limit - quota;
  return html`<div data-part="quota" data-gauge="${gauge([
    [tone, ours],
    ['theirs', others],
    ['left', left],
  ])}">
<p class="gauge-number"><strong>${shareText(used, limit) || '–'}</strong><span>${countText(used)} of ${countText(limit)} used</span></p>
${plainBar([
  [tone, ours],
  ['theirs', others],
  ['left', left],
])}
<dl>
<div><dt><span class="dot ${tone}"></span>by brand-enrich</dt><dd>${countText(ours)}</dd></div>
<div><dt><span class="dot theirs"></span>by others</dt><dd>${countText(others)}</dd></div>
<div><dt><span class="dot left"></span>left</dt><dd>${countText(left)}</dd></div>
</dl>
<p class="note">${ledger.period !== null && ledger.period !== 'none' && `Since ${dayText(ledger.period)}. `}${overage > 0 && quota !== null && `Quota ${countText(quota)} and ${countOf(overage, 'request')} of overage. `}${held > 0 && `${countText(held)} in flight.`}</p>
</div>`;
}

function budgetFigures({ budget, ledger, limit }: DashboardData): Markup {
  if (budget === null) {
    return html`<div data-part="budget"><p class="empty">${
      ledger !== null && limit === null
        ? 'Shown once a quota is known.'
        : html`No money is spent: requests end at the quota. On a plan that bills overage, <code>--plan paid</code> with <code>--overage-budget</code> allows more.`
    }</p></div>`;
  }
  const { overageRequests, requestsLeft } = budget;
  const whole = overageRequests + requestsLeft;
  const slices: Slice[] = [
    [toneOf(overageRequests, whole), overageRequests],
    ['left', requestsLeft],
  ];
  return html`<div data-part="budget" data-gauge="${gauge(slices)}">
<p class="gauge-number"><strong>${budget.used}</strong><span>of ${budget.budget} used</span></p>
${plainBar(slices)}
<dl>
<div><dt>Requests beyond the quota</dt><dd>${countText(overageRequests)}</dd></div>
<div><dt>Price of one</dt><dd>${budget.price}</dd></div>
<div><dt><span class="dot left"></span>left</dt><dd>${budget.left}</dd></div>
</dl>
<p class="note">The rest buys ${countOf(requestsLeft, 'request')}. In the currency of the plan.</p>
</div>`;
}

function projection({ projection, limit, ledger }: DashboardData): Markup {
  if (projection === null) {
    const why =
      ledger?.period === 'none'
        ? 'The quota of this account does not renew, so there is no end to look ahead to.'
        : 'Too early to say: it takes a day of the period, and requests in it.';
    return html`<div data-part="projection"><p class="empty">${why}</p></div>`;
  }
  const { projected, used, endsOn, limitReachedOn, daysGone, daysLeft } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const line = {
    gone: round(daysGone),
    days: round(daysGone + daysLeft),
    used: used.total,
    projected: projected.total,
    limit,
    endsOn,
  };
  return html`<div data-part="projection" data-line="${JSON.stringify(line)}">
<p class="lead"><strong>${countText(projected.total)}</strong> requests by ${dayText(endsOn)}, if it goes on like this</p>
${
  limitReachedOn === null || limit === null || over <= 0
    ? limit !== null && html`<p class="muted">Within the limit of ${countText(limit)}.</p>`
    : html`<p class="reached">${
        used.total >= limit
          ? 'The limit is reached'
          : html`The limit is reached on <strong>${dayText(limitReachedOn)}</strong>`
      }: that is ${countText(over)} more than it allows.</p>`
}
<p class="note">${countText(projected.byUs)} by brand-enrich, ${countText(projected.byOthers)} by others. ${daysText(daysLeft)} to go.</p>
</div>`;
}

/** Near and over are coloured as warnings are elsewhere: from 80 % on. */
function toneOf(used: number, whole: number): 'ours' | 'near' | 'over' {
  if (used >= whole && whole > 0) return 'over';
  return used >= 0.8 * whole && whole > 0 ? 'near' : 'ours';
}

function gauge(slices: readonly Slice[]): string {
  return JSON.stringify(slices);
}

/** In the place of the chart where no script runs. */
function plainBar(slices: readonly Slice[]): Markup {
  const whole = slices.reduce((sum, [, size]) => sum + size, 0) || 1;
  return html`<div class="plain">${bar(
    slices.filter(([tone]) => tone !== 'left').map(([tone, size]) => ({ tone, share: size / whole })),
  )}</div>`;
}

function daysText(days: number): string {
  return `${days.toFixed(1).replace(/\.0$/, '')}\u00a0days`;
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
