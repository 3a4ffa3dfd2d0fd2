/** The account: its requests as one bar, and the projection. Pure. */
import { countOf, countText, dayText, moneyText, shareText } from '../../core/figures.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { periodStart } from '../../ledger/period.js';
import { capOf, limitOf, spentOf } from '../../ledger/policy.js';
import { card, facts, html, type Markup } from '../../run/report/markup.js';
import type { DashboardData } from './gather-dashboard.js';
import { type Hold, holdOf } from './runs-section.js';

/** `currency`: a label of amounts; null: none is set. */
export function accountSection(data: DashboardData, currency: string | null): Markup {
  const line = html`<div class="canvas-box line-box" data-for="projection" hidden><canvas role="img" aria-label="Requests used in this period by day, their projection at the current rate, and the limit"></canvas></div>
${projection(data)}`;
  return html`${card('quota', 'Quota and overage', accountFigures(data, currency), { isPart: true })}
${card('projection', 'End of the period', line)}`;
}

type Account = Pick<LedgerState, 'quota' | 'quotaCap' | 'overage' | 'sent' | 'held' | 'others'>;
type AccountUse = ReturnType<typeof accountUse>;

/** The requests of a period, as they follow each other on the bar. */
export function accountUse(account: Account) {
  const { quota, sent, held, others } = account;
  const [used, limit, cap] = [spentOf(account), limitOf(account), capOf(account)];
  /** Where the requests of the overage budget begin. */
  const edge = cap ?? quota ?? used;
  const end = limit ?? used;
  const inside = Math.min(used, edge);
  const beyond = Math.max(0, used - end);
  /** Whose requests came first is not known, so all have their share of what is inside. */
  const insideOf = (count: number) => (used === 0 ? 0 : (count / used) * inside);
  const farthest = Math.max(end, used, 1);
  // A quota far beyond --quota would leave nothing of the bar.
  const isShown = quota !== null && quota <= 4 * farthest;
  return {
    limit,
    used,
    ours: sent + held,
    left: Math.max(0, edge - used),
    overage: used - inside - beyond,
    overageLeft: Math.max(0, end - Math.max(used, edge)),
    /** Spent by others beyond the limit, or by us before it was lowered. */
    beyond,
    /** Requests that the bar is long. */
    length: isShown ? Math.max(farthest, quota) : farthest,
    segments: [
      ['ours', insideOf(sent)],
      ['flight', insideOf(held)],
      ['theirs', insideOf(others)],
      ['left', Math.max(0, edge - used)],
      ['overage', used - inside - beyond],
      ['overage-left', Math.max(0, end - Math.max(used, edge))],
      ['over', beyond],
    ] as const,
    marks: [
      ...(isShown ? [['quota', quota] as const] : []),
      ...(cap === null ? [] : [['cap', cap] as const]),
    ],
  };
}

const BAR_Y = 20;
const BAR_HEIGHT = 18;

/** Positions are percentages, so that it fits any width and its words keep their shape. */
function accountBar({ segments, length, marks }: AccountUse): Markup {
  const percent = (count: number) => `${Math.round((count / length) * 10_000) / 100}%`;
  let at = 0;
  const drawn = segments.map(([tone, size]) => {
    const x = at;
    at += size;
    return (
      size > 0 &&
      html`<rect class="${tone}" x="${percent(x)}" y="${BAR_Y}" width="${percent(size)}" height="${BAR_HEIGHT}"/>`
    );
  });
  const shown = marks.map(([name, place], row) => {
    const x = percent(place);
    const share = place / length;
    const anchor = share < 0.2 ? 'start' : share > 0.8 ? 'end' : 'middle';
    // One above the bar, one below, so that they never overlap.
    const isAbove = row === 0;
    const [from, text] = isAbove ? [BAR_Y - 4, 12] : [BAR_Y, BAR_Y + BAR_HEIGHT + 17];
    return html`<rect class="mark" x="${x}" y="${from}" width="2" height="${BAR_HEIGHT + 4}" transform="translate(-1)"/><text x="${x}" y="${text}" text-anchor="${anchor}">${name} ${countText(place)}</text>`;
  });
  const height = BAR_Y + BAR_HEIGHT + (marks.length > 1 ? 22 : 4);
  return html`<svg class="account-bar" width="100%" height="${height}" aria-hidden="true"><rect class="track" y="${BAR_Y}" width="100%" height="${BAR_HEIGHT}"/>${drawn}${shown}</svg>`;
}

const HELD: Readonly<Record<Hold, string>> = {
  paused: 'Spending is paused: no requests are sent.',
  closed: 'The service refuses further requests.',
  'used up': 'The limit is used up.',
};

function accountFigures({ account, ledger, limit, budget }: DashboardData, currency: string | null): Markup {
  if (account === null) return html`<p class="empty">No account: set the service and its token.</p>`;
  if (ledger === null) return html`<p class="empty">The account has no data yet.</p>`;
  const { quota, others, held, period, overage: allowed } = ledger;
  const use = accountUse(ledger);
  const cap = capOf(ledger);
  const hold = holdOf(ledger, limit);
  const money = (amount: string) => moneyText(amount, currency);
  const withMoney = (amount: string | undefined, count: number) =>
    amount === undefined
      ? countText(count)
      : html`${money(amount)}<span class="muted">, ${countOf(count, 'request')}</span>`;
  const dot = (tone: string, words: string) => html`<span class="dot ${tone}"></span>${words}`;
  // Within the quota of the service, what is beyond the cap costs nothing.
  const billed = cap === null ? budget : null;
  const [left, spent, rest] =
    cap === null
      ? ['left of the quota', 'overage used', 'overage left']
      : [`left of the cap of ${countText(cap)}`, 'used beyond it', 'left beyond it'];
  const hasOverage = allowed > 0 || (budget !== null && budget.overageRequests > 0);
  const rows = facts([
    [dot('ours', 'by brand-enrich'), countText(use.ours)],
    held > 0 && [dot('flight', 'of these in flight'), countText(held)],
    [dot('theirs', 'by others'), countText(others)],
    limit !== null && [dot('left', left), countText(use.left)],
    hasOverage && [dot('overage', spent), withMoney(billed?.used, billed?.overageRequests ?? use.overage)],
    hasOverage && [dot('overage-left', rest), withMoney(billed?.left, use.overageLeft)],
    use.beyond > 0 && [dot('over', 'beyond the limit'), countText(use.beyond)],
  ]);
  const terms = [
    period !== null && period !== 'none' && `Since ${dayText(period)}.`,
    limit === null && 'The quota is unknown until the service answers.',
    quota !== null && `The quota of the service is ${countText(quota)}.`,
    quota === null && cap !== null && 'The service reports no quota.',
    cap !== null && 'The cap is the quota in the settings.',
    budget !== null &&
      `Overage budget ${money(budget.budget)}, at ${moneyText(budget.price, currency, 'price')} a request beyond the quota${cap === null ? '' : `; ${money(budget.used)} used`}.`,
    currency === null && budget !== null && 'Amounts are in the currency of the plan.',
  ];
  return html`<p class="lead"><strong>${countText(use.used)}</strong> ${limit === null ? 'requests used' : `of ${countText(limit)} used`} ${limit !== null && limit > 0 && html`<span class="muted">${shareText(use.used, limit)}</span>`}</p>
${(limit !== null || use.used > 0) && accountBar(use)}
${hold !== null && html`<p class="reached">${HELD[hold]}</p>`}
${rows}
<p class="note">${terms.filter((term) => term !== false).join(' ')}</p>
${allowed === 0 && html`<p class="note">brand-enrich spends no money: it stops at the ${cap === null ? 'quota' : 'cap'}. On a plan that bills overage, <code>plan</code> and <code>overageBudget</code> in the settings allow more.</p>`}`;
}

function projection({ projection, limit, ledger }: DashboardData): Markup {
  if (projection === null) {
    const why =
      ledger?.period === 'none'
        ? 'The quota of this account does not renew, so there is no projection.'
        : 'Too early: a projection needs one day of the period with requests.';
    return html`<div data-part="projection"><p class="empty">${why}</p></div>`;
  }
  const { projected, used, endsOn, limitReachedOn, daysGone, daysLeft } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  const [gone, days] = [round(daysGone), round(daysGone + daysLeft)];
  const line = {
    points: daysOf(ledger, gone),
    gone,
    days,
    used: used.total,
    projected: projected.total,
    limit,
    endsOn,
  };
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

const DAY_MS = 86_400_000;

/**
 * Use at the end of each past day of the period, as days since its start with requests: from 0 if
 * its first day is known, straight over later days without data, nothing before the first known
 * day. `gone`: days since the start. The day in progress is left out. Pure.
 */
export function daysOf(ledger: Pick<LedgerState, 'days' | 'period'> | null, gone: number) {
  const startedAt = periodStart(ledger?.period ?? '');
  const ends = (ledger?.days ?? []).map(
    ({ day, used }) => [(periodStart(day) - startedAt) / DAY_MS + 1, used] as const,
  );
  const [first] = ends.filter(([end]) => end > 0);
  const start = first?.[0] === 1 ? [[0, 0] as const] : [];
  return [...start, ...ends.filter(([end]) => end > 0 && end < gone)];
}
