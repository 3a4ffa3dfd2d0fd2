/** The account: usage and projection. Numbers are text; charts come from `data-` attributes. */
import { limitText } from '../../context/account-status.js';
import { countOf, countText, dayText, shareText } from '../../core/figures.js';
import { capOf, spentOf } from '../../ledger/policy.js';
import { bar, card, facts, html, type Markup } from '../../run/report/markup.js';
import type { DashboardData } from './gather-dashboard.js';

/** One slice of a gauge: a tone of the style sheet, and its size. */
type Slice = readonly [tone: string, size: number];

export function accountSection(data: DashboardData): Markup {
  const line = html`<div class="canvas-box line-box" data-for="projection" hidden><canvas role="img" aria-label="Requests used in this period, their projection at the current rate, and the limit"></canvas></div>
${projection(data)}`;
  return html`<div class="trio gauges">
${gaugeCard('quota', 'Quota', quotaFigures(data))}
${gaugeCard('budget', 'Overage budget', budgetFigures(data))}
${card('projection', 'End of the period', line)}
</div>`;
}

function gaugeCard(name: string, title: string, figures: Markup): Markup {
  const content = html`<div class="canvas-box" data-for="${name}" hidden><canvas role="img" aria-label="${title}: the numbers are below"></canvas></div>
${figures}`;
  return card(name, title, content, { more: 'gauge' });
}

/** What a gauge says, with a bar in the place of the chart where no script runs. */
function gauge(part: string, slices: readonly Slice[], share: string, of: string, rest: Markup): Markup {
  const whole = slices.reduce((sum, [, size]) => sum + size, 0) || 1;
  const drawn = slices.map(([tone, size]) => [tone, tone === 'left' ? 0 : size / whole] as const);
  return html`<div data-part="${part}" data-gauge="${JSON.stringify(slices)}">
<p class="gauge-number"><strong>${share}</strong><span>${of} used</span></p>
<div class="plain">${bar(drawn)}</div>
${rest}
</div>`;
}

function nothing(part: string, why: string | Markup): Markup {
  return html`<div data-part="${part}"><p class="empty">${why}</p></div>`;
}

function quotaFigures({ ledger, limit, account }: DashboardData): Markup {
  if (account === null) return nothing('quota', 'No account: set the service and its token.');
  if (ledger === null) return nothing('quota', 'The account has no data yet.');
  const { sent, held, others, quota, overage, period } = ledger;
  const cap = capOf(ledger);
  const ours = sent + held;
  const used = spentOf(ledger);
  if (limit === null) {
    return html`<div data-part="quota"><p><strong class="big">${countText(used)}</strong> used</p>
<p class="empty">The quota is unknown until the service answers.</p></div>`;
  }
  const left = Math.max(0, limit - used);
  const tone = toneOf(used, limit);
  const terms =
    cap !== null
      ? `${quota === null ? '' : `Quota ${countText(quota)}. `}Limit: ${limitText(ledger)}. `
      : overage > 0 &&
        quota !== null &&
        `Quota ${countText(quota)} and ${countOf(overage, 'request')} of overage. `;
  const slices: Slice[] = [
    [tone, ours],
    ['theirs', others],
    ['left', left],
  ];
  const rest = html`${facts([
    [html`<span class="dot ${tone}"></span>by brand-enrich`, countText(ours)],
    [html`<span class="dot theirs"></span>by others`, countText(others)],
    [html`<span class="dot left"></span>left`, countText(left)],
  ])}
<p class="note">${period !== null && period !== 'none' && `Since ${dayText(period)}. `}${terms}${held > 0 && `${countText(held)} in flight.`}</p>`;
  const of = `${countText(used)} of ${countText(limit)}`;
  return gauge('quota', slices, shareText(used, limit) || '–', of, rest);
}

function budgetFigures({ budget, ledger, limit }: DashboardData): Markup {
  if (budget === null) {
    const why =
      ledger !== null && limit === null
        ? 'Shown when the quota is known.'
        : html`No money is spent: requests end at the quota. On a plan that bills overage, <code>--plan paid</code> with <code>--overage-budget</code> allows more.`;
    return nothing('budget', why);
  }
  const { overageRequests, requestsAllowed, requestsLeft, quotaCap } = budget;
  const unspent = Math.max(0, requestsAllowed - overageRequests);
  const slices: Slice[] = [
    [toneOf(overageRequests, overageRequests + unspent), overageRequests],
    ['left', unspent],
  ];
  const rest = html`${facts([
    ['Requests beyond the quota', countText(overageRequests)],
    ['Price of a request', budget.price],
    [html`<span class="dot left"></span>left`, budget.left],
  ])}
<p class="note">${quotaCap === null ? `The remaining budget buys ${countOf(requestsLeft, 'request')}` : `The budget allows ${countOf(requestsAllowed, 'request')} beyond --quota ${quotaCap}, ${countText(requestsLeft)} left`}. Amounts are in the currency of the plan.</p>`;
  return gauge('budget', slices, budget.used, `of ${budget.budget}`, rest);
}

function projection({ projection, limit, ledger }: DashboardData): Markup {
  if (projection === null) {
    const why =
      ledger?.period === 'none'
        ? 'The quota of this account does not renew, so there is no projection.'
        : 'Too early: a projection needs one day of the period with requests.';
    return nothing('projection', why);
  }
  const { projected, used, endsOn, limitReachedOn, daysGone, daysLeft } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  const [gone, days] = [round(daysGone), round(daysGone + daysLeft)];
  const line = { gone, days, used: used.total, projected: projected.total, limit, endsOn };
  const on =
    limit !== null && used.total < limit && html` on <strong>${dayText(limitReachedOn ?? '')}</strong>`;
  const limitText =
    limitReachedOn === null || over <= 0
      ? limit !== null && html`<p class="muted">Within the limit of ${countText(limit)}.</p>`
      : html`<p class="reached">The limit is reached${on}; the projection exceeds it by ${countText(over)} requests.</p>`;
  return html`<div data-part="projection" data-line="${JSON.stringify(line)}">
<p class="lead"><strong>${countText(projected.total)}</strong> requests by ${dayText(endsOn)} at the current rate</p>
${limitText}
<p class="note">${countText(projected.byUs)} by brand-enrich, ${countText(projected.byOthers)} by others. ${daysLeft.toFixed(1).replace(/\.0$/, '')}\u00a0days to go.</p>
</div>`;
}

/** Near and over are coloured as warnings are elsewhere: from 80 % on. */
function toneOf(used: number, whole: number): 'ours' | 'near' | 'over' {
  if (used >= whole && whole > 0) return 'over';
  return used >= 0.8 * whole && whole > 0 ? 'near' : 'ours';
}
