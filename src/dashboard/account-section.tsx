/** The account: its requests as one bar, and the projection. Pure. */
import type { Child } from 'hono/jsx';
import { DAY_MS } from '../core/clock.js';
import { countOf, countText, dayText, moneyText, sentenceOf, shareText } from '../core/figures.js';
import type { LedgerState } from '../ledger/ledger.js';
import { periodStart } from '../ledger/period.js';
import { overageOf, sayWait } from '../ledger/policy.js';
import type { Projection } from '../ledger/projection.js';
import { judgeAccount } from '../run/facts/judge-account.js';
import { Chart, percentOf, scaleTo } from '../run/report/kit/chart.js';
import { Card, Dot, type Fact, Facts } from '../run/report/kit/parts.js';
import type { DashboardData } from './gather-dashboard.js';

/** Where the form of the button that checks the account is posted to. */
export const CHECK_PATH = '/account/check';

/** `currency`: a label of amounts; null: none is set. `check`: that button; null: none. */
export function accountSection(data: DashboardData, currency: string | null, check: Child = null) {
  return (
    <div class="pair" data-part="account">
      <Card id="quota" title="Quota and extra cost">
        <AccountFigures data={data} currency={currency} check={check} />
      </Card>
      {data.projection !== null && (
        <Card id="projection" title="End of the period">
          <ProjectionLine projection={data.projection} ledger={data.ledger} />
        </Card>
      )}
    </div>
  );
}

type Account = Parameters<typeof judgeAccount>[0];
type AccountUse = ReturnType<typeof accountUse>;

/** The requests of a period, as they follow each other on the bar. */
export function accountUse(account: Account) {
  const { quota, sent, others } = account;
  const inFlight = account.held + account.probes;
  const judged = judgeAccount(account);
  const { limit, cap, used, overageUsed, overageLeft, beyond } = judged;
  const left = judged.quotaLeft ?? 0;
  const inside = used - overageUsed - beyond;
  /** Whose requests came first is not known, so all have their share of what is inside. */
  const insideOf = (count: number) => (used === 0 ? 0 : (count / used) * inside);
  const farthest = Math.max(limit ?? 0, used, 1);
  // A quota far beyond --quota would leave nothing of the bar.
  const isShown = quota !== null && quota <= 4 * farthest;
  return {
    ...judged,
    ours: sent + inFlight,
    inFlight,
    /** Requests that the bar is long. */
    length: isShown ? Math.max(farthest, quota) : farthest,
    segments: [
      ['ours', insideOf(sent)],
      ['flight', insideOf(inFlight)],
      ['theirs', insideOf(others)],
      ['left', left],
      ['overage', overageUsed],
      ['overage-left', limit === null ? 0 : overageLeft],
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
function AccountBar({ use: { segments, length, marks } }: { use: AccountUse }) {
  const percent = (count: number) => `${Math.round((count / length) * 10_000) / 100}%`;
  let at = 0;
  const drawn = segments.map(([tone, size]) => {
    const x = at;
    at += size;
    return (
      size > 0 && <rect class={tone} x={percent(x)} y={BAR_Y} width={percent(size)} height={BAR_HEIGHT} />
    );
  });
  const shown = marks.map(([name, place], row) => {
    const x = percent(place);
    const share = place / length;
    const anchor = share < 0.2 ? 'start' : share > 0.8 ? 'end' : 'middle';
    // One above the bar, one below, so that they never overlap.
    const isAbove = row === 0;
    const [from, text] = isAbove ? [BAR_Y - 4, 12] : [BAR_Y, BAR_Y + BAR_HEIGHT + 17];
    return (
      <>
        <rect class="mark" x={x} y={from} width="2" height={BAR_HEIGHT + 4} transform="translate(-1)" />
        <text x={x} y={text} text-anchor={anchor}>
          {name} {countText(place)}
        </text>
      </>
    );
  });
  const height = BAR_Y + BAR_HEIGHT + (marks.length > 1 ? 22 : 4);
  return (
    <svg class="account-bar" width="100%" height={height} aria-hidden="true">
      <rect class="track" y={BAR_Y} width="100%" height={BAR_HEIGHT} />
      {drawn}
      {shown}
    </svg>
  );
}

function AccountFigures(shown: { data: DashboardData; currency: string | null; check: Child }) {
  const { data, currency, check } = shown;
  const { account, ledger, budget, projection } = data;
  if (account === null) return <p class="empty">No account: set the service and its token.</p>;
  if (ledger === null) return <p class="empty">The account has no data yet.</p>;
  const { quota, others, period, free } = ledger;
  const allowed = overageOf(ledger);
  const use = accountUse(ledger);
  const { limit, cap, hold } = use;
  const money = (amount: string) => moneyText(amount, currency);
  const withMoney = (amount: string | undefined, count: number) =>
    amount === undefined ? (
      countText(count)
    ) : (
      <>
        {money(amount)}
        <span class="muted">, {countOf(count, 'lookup')}</span>
      </>
    );
  const left = cap === null ? 'left of the quota' : `left of the cap of ${countText(cap)}`;
  const hasOverage = allowed > 0 || (budget !== null && budget.overageRequests > 0);
  const rows: Fact[] = [
    [<Dot tone="ours">by brand-enrich</Dot>, countText(use.ours)],
    use.inFlight > 0 && [<Dot tone="flight">of these in flight</Dot>, countText(use.inFlight)],
    [<Dot tone="theirs">by others</Dot>, countText(others)],
    free > 0 && ['free, for the own domain', countText(free)],
    limit !== null && [<Dot tone="left">{left}</Dot>, countText(use.quotaLeft ?? 0)],
    hasOverage && [
      <Dot tone="overage">extra cost</Dot>,
      withMoney(budget?.used, budget?.overageRequests ?? use.overageUsed),
    ],
    allowed > 0 && [<Dot tone="overage-left">extra cost left</Dot>, withMoney(budget?.left, use.overageLeft)],
    use.beyond > 0 && [<Dot tone="over">beyond the limit</Dot>, countText(use.beyond)],
  ];
  const terms = [
    period !== null && period !== 'none' && `Since ${dayText(period)}.`,
    period === 'none' && 'The quota does not renew.',
    limit === null && 'The quota is unknown until the service answers.',
    quota !== null && `The quota of the service is ${countText(quota)}.`,
    quota === null && cap !== null && 'The service reports no quota.',
    cap !== null && 'The cap is the quota in the settings.',
    budget !== null &&
      `At most ${money(budget.budget)} extra cost, at ${moneyText(budget.price, currency, 'price')} a ` +
        'lookup beyond the quota.',
    currency === null && budget !== null && 'Amounts are in the currency of the plan.',
    period !== 'none' && projection === null && 'A projection follows after a day of use.',
  ];
  return (
    <>
      <p class="lead">
        <strong>{countText(use.used)}</strong>{' '}
        {limit === null ? 'lookups used' : `of ${countText(limit)} used`}{' '}
        {limit !== null && limit > 0 && <span class="muted">{shareText(use.used, limit)}</span>}
      </p>
      {(limit !== null || use.used > 0) && <AccountBar use={use} />}
      {use.waitsUntil !== null && <p class="reached">{sentenceOf(sayWait(use.waitsUntil))}</p>}
      {(hold === 'used up' || hold === 'closed') && check}
      <Facts rows={rows} />
      <p class="note">{terms.filter((term) => term !== false).join(' ')}</p>
      {allowed === 0 && (
        <p class="note">
          Nothing extra is paid: brand-enrich stops at the{' '}
          {cap === null ? (
            <>
              quota. On a plan that bills lookups beyond the quota, <code>plan</code> and{' '}
              <code>overageBudget</code> in the settings allow more.
            </>
          ) : (
            'cap.'
          )}
        </p>
      )}
    </>
  );
}

function ProjectionLine(shown: { projection: Projection; ledger: DashboardData['ledger'] }) {
  const { projection, ledger } = shown;
  const limit = ledger && judgeAccount(ledger).limit;
  const { projected, used, endsOn, limitReachedOn, daysGone, daysLeft } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  const [gone, days] = [round(daysGone), round(daysGone + daysLeft)];
  const isReached = limitReachedOn !== null && over > 0;
  return (
    <div class="line">
      <DayChart
        points={daysOf(ledger, gone)}
        now={[gone, used.total]}
        end={[days, projected.total]}
        limit={limit}
        endsOn={endsOn}
      />
      <p class="lead">
        <strong>{countText(projected.total)}</strong> lookups by {dayText(endsOn)} at the current rate
      </p>
      {!isReached && limit !== null && <p class="muted">Within the limit of {countText(limit)}.</p>}
      {isReached && (
        <p class="reached">
          The limit is reached
          {limit !== null && used.total < limit && (
            <>
              {' '}
              on <strong>{dayText(limitReachedOn)}</strong>
            </>
          )}
          ; the projection exceeds it by {countText(over)} lookups.
        </p>
      )}
      <p class="note">
        {countText(projected.byUs)} by brand-enrich, {countText(projected.byOthers)} by others.{' '}
        {`${daysLeft.toFixed(1).replace(/\.0$/, '')}\u00a0days`} to go.
      </p>
    </div>
  );
}

type DayPoint = readonly [days: number, requests: number];

/** Use by day, its projection and the limit. `endsOn`: the day after the last, as `2026-12-01`. */
function DayChart(line: {
  readonly points: readonly DayPoint[];
  readonly now: DayPoint;
  readonly end: DayPoint;
  readonly limit: number | null;
  readonly endsOn: string;
}) {
  const { points, now, end, limit, endsOn } = line;
  const [days] = end;
  // Above the highest line is some room.
  const scale = scaleTo(Math.max(end[1], limit ?? 0) * 1.08, 3);
  const pathOf = (name: string, title: string, through: readonly DayPoint[]) => {
    const at = ([day, count]: DayPoint) =>
      `${percentOf(day, days)} ${percentOf(scale.top - count, scale.top)}`;
    return (
      <path class={name} d={`M${through.map(at).join('L')}`}>
        <title>{title}</title>
      </path>
    );
  };
  const dayAt = (share: number) =>
    dayText(new Date(Date.parse(endsOn) - (1 - share) * days * DAY_MS).toISOString().slice(0, 10));
  const label = 'Lookups used in this period by day, their projection at the current rate, and the limit';
  const below = [0, 0.5, 1].map((share) => <span>{dayAt(share)}</span>);
  return (
    <Chart label={label} unit="lookups" scale={scale} below={below}>
      {pathOf('projected', `Projected: ${countText(end[1])}`, [now, end])}
      {/* Without days it ends where it begins, as a dot. */}
      {pathOf(points.length === 0 ? 'now' : 'used', `Used: ${countText(now[1])}`, [...points, now, now])}
      {limit !== null &&
        pathOf('limit', `Limit: ${countText(limit)}`, [
          [0, limit],
          [days, limit],
        ])}
    </Chart>
  );
}

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
