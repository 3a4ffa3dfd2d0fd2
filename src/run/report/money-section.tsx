/** The section of the page on money, the account, and the age of the answers. */
import { countOf, countText, momentText, moneyText, shareText } from '../../core/figures.js';
import { periodStart } from '../../ledger/period.js';
import { RULES } from '../../ledger/rules.js';
import { UNREPORTED } from '../words/say-reason.js';
import { doubtOfOverage, leftText } from './headline.js';
import { Bar, Card, Dot, type Fact, Facts } from './kit/parts.js';
import type { RunReport } from './report.js';

export function MoneySection({ report }: { report: RunReport }) {
  return (
    <div class="trio">
      <Card id="money" title="Money">
        <Spent report={report} />
      </Card>
      {report.account !== null && (
        <Card id="account" title="Quota">
          <Account account={report.account} />
        </Card>
      )}
      {report.fetchedAt.oldest !== null && (
        <Card id="ages" title="Age of the answers">
          <Ages fetchedAt={report.fetchedAt} oldest={report.fetchedAt.oldest} />
        </Card>
      )}
    </div>
  );
}

/** True if the billing period began during the run, or less than `turnMarginMs` before. */
function periodBeganDuring({ account, startedAt }: RunReport): boolean {
  return periodStart(account?.period ?? 'none') + RULES.turnMarginMs > Date.parse(startedAt);
}

function Spent({ report }: { report: RunReport }) {
  const { requests, identifiers, currency } = report;
  const free = requests.sent - requests.billed;
  const { unreported } = requests;
  const rows: Fact[] = [
    ['Requests billed', countText(requests.billed)],
    unreported > 0 && [`Perhaps billed: ${UNREPORTED}`, countText(unreported)],
    free > 0 && ['Requests that cost nothing', countText(free)],
    ['Billed beyond the quota', `${countText(requests.overage)}${doubtOfOverage(requests)}`],
    ['Overage cost', moneyText(requests.overageCost, currency)],
    ...perBrandFacts(report),
    ['Saved: duplicate rows', countText(requests.savedByDuplicates), 'saved'],
    ['Saved: stored answers', countText(requests.savedByStored), 'saved'],
  ];
  return (
    <>
      <Facts rows={rows} />
      <p class="note">
        {countOf(identifiers.distinct, 'distinct identifier')} in the file.
        {currency === null && ' The cost is in the currency of the plan.'}
        {periodBeganDuring(report) &&
          ' A billing period began during the run: the overage may be off by the requests in flight then.'}
      </p>
    </>
  );
}

/** Returns requests and overage cost per brand; the price of other requests is unknown. */
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

/** Returns requests per brand as text with two decimals, or `< 0.01`. */
export function perBrand(requests: number, brands: number): string {
  const each = requests / brands;
  return each > 0 && each < 0.005 ? '< 0.01' : each.toFixed(2);
}

function Account({ account }: { account: NonNullable<RunReport['account']> }) {
  const { quota, limit, cap, used, others, period } = account;
  const ours = used - others;
  const ofPeriod = period === null || period === 'none' ? '' : `Since ${period}. `;
  if (limit === null)
    return (
      <>
        <p>
          <strong>{countOf(used, 'request')}</strong> used
        </p>
        <p class="note">{ofPeriod}The service reports no quota.</p>
      </>
    );
  const whole = Math.max(limit, used, 1);
  const rows: Fact[] = [
    [<Dot tone="ours">by brand-enrich</Dot>, countText(ours)],
    [<Dot tone="theirs">by others</Dot>, countText(others)],
    ['Left', leftText(account)],
    cap !== null && [
      <>
        Set with <code>quota</code>
      </>,
      countText(cap),
    ],
    quota !== null &&
      quota !== limit && [cap === null ? 'Quota without overage' : 'Quota of the service', countText(quota)],
  ];
  return (
    <>
      <p>
        <strong>{countText(used)}</strong> of {countText(limit)} used{' '}
        {limit > 0 && <span class="muted">{shareText(used, limit)}</span>}
      </p>
      <Bar
        parts={[
          ['ours', ours / whole],
          ['theirs', others / whole],
        ]}
      />
      <Facts rows={rows} />
      <p class="note">{ofPeriod}As of the end of the run.</p>
    </>
  );
}

function Ages(ages: { fetchedAt: RunReport['fetchedAt']; oldest: string }) {
  const { oldest } = ages;
  const { newest, scoresMayHaveDrifted } = ages.fetchedAt;
  return (
    <>
      <Facts
        rows={[
          ['Oldest', momentText(oldest)],
          ['Newest', momentText(newest ?? '')],
        ]}
      />
      {scoresMayHaveDrifted && (
        <p class="warning" role="note">
          Oldest and newest are more than 7 days apart. Scores change over time, so ranks may compare scores
          of different days; a run with <code>refresh</code> fetches all of them again.
        </p>
      )}
    </>
  );
}
