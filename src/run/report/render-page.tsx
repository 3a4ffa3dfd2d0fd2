/** Renders the report of a run as one self-contained HTML text, which requests nothing. Pure. */
import {
  countOf,
  countText,
  durationText,
  momentText,
  moneyText,
  sentenceOf,
  shareText,
} from '../../core/figures.js';
import { BrandsSection } from './brands-section.js';
import { headlineOf, verdictOf } from './headline.js';
import { documentOf, hashSource, Page, policyOf, STYLE } from './kit/page.js';
import { type KeyFigure, KeyFigures, Title, type Tone } from './kit/parts.js';
import { MoneySection, perBrand } from './money-section.js';
import type { PageData } from './portable-report.js';
import type { RunReport } from './report.js';
import { RowsSection } from './rows-section.js';
import {
  CausesSection,
  ChangesSection,
  FilesSection,
  FillsSection,
  hasBrands,
  NamesSection,
  OutcomesSection,
  ScoresSection,
} from './sections.js';

const POLICY = policyOf({ scripts: [], style: hashSource(STYLE), more: ["form-action 'none'"] });

export function renderPage(data: PageData): string {
  const { report } = data;
  const verdict = verdictOf(report);
  const { next, run } = report;
  const { name, sha256 } = report.input;
  const head = (
    <>
      <meta http-equiv="Content-Security-Policy" content={POLICY} />
      <meta name="referrer" content="no-referrer" />
    </>
  );
  return documentOf(
    <Page title={`${name}: brand-enrich report`} head={head}>
      <header>
        <p class="eyebrow">brand-enrich report · {momentText(report.endedAt)}</p>
        <Title mark={verdict}>
          <bdi>{name}</bdi>
        </Title>
        <p class="headline">{headlineOf(report)}</p>
        {next !== null && <p class="next">{sentenceOf(next)}</p>}
        {data.isSample && (
          <p class="warning">
            Sample data: the brands and scores on this page come from the built-in catalogue, not from a
            service, and nothing was spent.
          </p>
        )}
      </header>
      <main>
        <KeyFigures figures={figuresOf(report, verdict[1])} />
        <div class={hasBrands(report) ? 'pair' : undefined}>
          <OutcomesSection report={report} />
          {hasBrands(report) && <ScoresSection report={report} />}
        </div>
        <BrandsSection data={data} />
        <RowsSection report={report} />
        <FillsSection report={report} />
        <NamesSection report={report} />
        <ChangesSection report={report} />
        <CausesSection report={report} />
        <MoneySection report={report} />
        <FilesSection data={data} />
      </main>
      <footer>
        <p class="note">
          Run {run.id}, {durationText(report.seconds)}, from {momentText(report.startedAt)} to{' '}
          {momentText(report.endedAt)}. Input sha256 {sha256}.
        </p>
      </footer>
    </Page>,
  );
}

/** The policy for a report of any release, which others may have changed: no script. */
export const REPORT_POLICY = policyOf({
  scripts: [],
  style: "'unsafe-inline'",
  more: ["form-action 'none'", "frame-ancestors 'none'"],
});

function figuresOf(report: RunReport, tone: Tone): KeyFigure[] {
  const { rows, input, requests, account, currency, cost } = report;
  const { records } = input;
  const share = records > 0 ? `, ${shareText(rows.matched, records)}` : '';
  const { savedByDuplicates, savedByStored } = requests;
  const isFirst = cost.inAll.requests === cost.run.requests;
  const inAll = isFirst ? '' : `, ${countText(cost.inAll.requests)} in all starts`;
  const saved = `${countText(savedByDuplicates)} by duplicates, ${countText(savedByStored)} stored`;
  return [
    ['Rows with a brand', countText(rows.matched), `of ${countText(records)}${share}`, tone],
    ['Requests billed', countText(requests.billed), `of ${countText(requests.sent)} sent${inAll}`],
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
  ];
}

function limitUsed(account: RunReport['account']): [figure: string, below: string] {
  if (account === null) return ['–', 'no lookups'];
  const { limit, cap, used } = account;
  if (limit === null) return [countText(used), 'no quota reported'];
  return [
    shareText(used, limit) || countText(used),
    `${countText(used)} of ${countText(limit)}${cap === null ? '' : ' (own limit)'}`,
  ];
}
