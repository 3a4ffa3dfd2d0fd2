/** The account: its requests, its money, and the projection. Pure. */
import type { Child } from 'hono/jsx';
import { countOf, countText, dayText, moneyText, sentenceOf, shareText } from '../core/figures.js';
import { overageOf, sayWait } from '../ledger/policy.js';
import type { Projection } from '../ledger/projection.js';
import { judgeAccount } from '../run/facts/judge-account.js';
import { Bar, Card, Dot, type Fact, Facts } from '../run/report/kit/parts.js';
import type { DashboardData } from './gather-dashboard.js';

/** Where the form of the button that checks the account is posted to. */
export const CHECK_PATH = '/account/check';

/** `currency` labels amounts; null if unset. `check` is the button to check; null without one. */
export function accountSection(data: DashboardData, currency: string | null, check: Child = null) {
  const limit = data.ledger && judgeAccount(data.ledger).limit;
  return (
    <div class="pair" data-part="account">
      <Card id="quota" title="Quota and extra cost">
        <AccountFigures data={data} currency={currency} check={check} />
      </Card>
      {data.projection !== null && (
        <Card id="projection" title="End of the period">
          <ProjectionLine projection={data.projection} limit={limit} />
        </Card>
      )}
    </div>
  );
}

/** The requests of a period, and the shares of the bar that they have. */
export function accountUse(account: Parameters<typeof judgeAccount>[0]) {
  const { sent, others } = account;
  const inFlight = account.held + account.probes;
  const judged = judgeAccount(account);
  const { limit, used, overageUsed, overageLeft, beyond } = judged;
  const whole = Math.max(limit ?? 0, used, 1);
  const inside = used - overageUsed - beyond;
  /** Whose requests came first is not known, so all have their share of what is inside. */
  const insideOf = (count: number) => (used === 0 ? 0 : (count / used) * inside);
  const requests = [
    ['ours', insideOf(sent)],
    ['flight', insideOf(inFlight)],
    ['theirs', insideOf(others)],
    ['left', judged.quotaLeft ?? 0],
    ['overage', overageUsed],
    ['overage-left', limit === null ? 0 : overageLeft],
    ['over', beyond],
  ] as const;
  const parts = requests.map(([tone, count]) => [tone, count / whole] as const);
  return { ...judged, ours: sent + inFlight, inFlight, parts };
}

function AccountFigures(shown: { data: DashboardData; currency: string | null; check: Child }) {
  const { data, currency, check } = shown;
  const { account, ledger, budget } = data;
  if (account === null) return <p class="empty">No account: set the service and its token.</p>;
  if (ledger === null) return <p class="empty">The account has no data yet.</p>;
  const { quota, others, period, free } = ledger;
  const allowed = overageOf(ledger);
  const use = accountUse(ledger);
  const { limit, cap, hold } = use;
  const money = (amount: string) => moneyText(amount, currency);
  const withMoney = (amount: string | undefined, count: number) =>
    amount === undefined ? countText(count) : `${money(amount)}, ${countOf(count, 'lookup')}`;
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
    allowed === 0 && `Nothing extra is paid: brand-enrich stops at the ${cap === null ? 'quota' : 'cap'}.`,
    allowed === 0 &&
      cap === null &&
      'On a plan that bills lookups beyond the quota, plan and overageBudget in the settings allow more.',
  ];
  return (
    <>
      <p class="lead">
        <strong>{countText(use.used)}</strong>{' '}
        {limit === null ? 'lookups used' : `of ${countText(limit)} used`}{' '}
        {limit !== null && limit > 0 && <span class="muted">{shareText(use.used, limit)}</span>}
      </p>
      {(limit !== null || use.used > 0) && <Bar parts={use.parts} />}
      {use.waitsUntil !== null && <p class="reached">{sentenceOf(sayWait(use.waitsUntil))}</p>}
      {(hold === 'used up' || hold === 'closed') && check}
      <Facts rows={rows} />
      <p class="note">{terms.filter((term) => term !== false).join(' ')}</p>
    </>
  );
}

function ProjectionLine({ projection, limit }: { projection: Projection; limit: number | null }) {
  const { projected, used, endsOn, limitReachedOn, daysLeft } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const isReached = limitReachedOn !== null && over > 0;
  const day = isReached && limit !== null && used.total < limit && dayText(limitReachedOn);
  return (
    <>
      <p class="lead">
        <strong>{countText(projected.total)}</strong> lookups by {dayText(endsOn)} at the current rate
      </p>
      {!isReached && limit !== null && <p class="muted">Within the limit of {countText(limit)}.</p>}
      {isReached && (
        <p class="reached">
          The limit is reached{day && ` on ${day}`}; the projection exceeds it by {countText(over)} lookups.
        </p>
      )}
      <p class="note">
        {countText(projected.byUs)} by brand-enrich, {countText(projected.byOthers)} by others.{' '}
        {`${daysLeft.toFixed(1).replace(/\.0$/, '')}\u00a0days`} to go.
      </p>
    </>
  );
}
