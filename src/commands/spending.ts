/** `status --by`: who spent what, as far as the engine has records. */
import { readAccountStatus } from '../app/account-status.js';
import { knownNames } from '../app/open-service.js';
import { costOf } from '../core/decimal.js';
import { countOf, countText } from '../core/figures.js';
import { visibleLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { isScheduleOwner, type RunRecord } from '../engine/stores/run-store.js';
import type { Document } from '../run/documents.js';
import { type JudgedRun, judgeRuns } from '../run/facts/judge-runs.js';
import { isoTime } from '../run/output/columns.js';
import type { Settings } from '../settings/settings.js';
import type { Answer } from './answer.js';

export type SpendingBy = Document<'spending'>['by'];

/** Far more than an engine keeps in its 7 or 90 days. */
const RUNS_AT_MOST = 20_000;

const UNKNOWN: Readonly<Record<SpendingBy, readonly string[]>> = {
  input: ['which of several files of one name: runs are named by the file without its folder'],
  schedule: [],
  person: [
    'who put a file into an inbox or added a schedule: only commands, programs and files that were ' +
      'sent to the dashboard have a person',
  ],
  month: ['when earlier starts of a file that stopped spent: they count with its latest start'],
};
const ALWAYS_UNKNOWN = [
  'runs that ended long ago: Redis keeps their records for 7 days, the embedded engine and PostgreSQL for 90',
  'what others with the same token spent on: the service reports only their number',
];

/** Returns spending by file, schedule, person or month. Throws engine errors. */
export async function spendingAnswer(by: SpendingBy, settings: Settings, stores: Engine): Promise<Answer> {
  const names = knownNames(settings);
  const status = await readAccountStatus(stores, async () => null, names, settings, RUNS_AT_MOST);
  const judged = judgeRuns(status);
  const { overagePrice: price, currency } = settings;
  const { ledger, account } = status;
  const oldest = Math.min(...judged.map(({ run }) => run.asOf));
  const period = ledger?.period ?? null;
  const data: Document<'spending'> = {
    by,
    since: isoTime(Number.isFinite(oldest) ? oldest : null),
    price,
    currency,
    groups: judgeSpending(by, judged, price),
    account:
      ledger && account !== null
        ? {
            name: account,
            period,
            sent: ledger.sent,
            unattributed: unattributedOf(ledger.sent, judged, account, Date.parse(period ?? '') || null),
            others: ledger.others,
          }
        : null,
    unknown: [...UNKNOWN[by], ...ALWAYS_UNKNOWN],
  };
  return { data, text: spendingText(data) };
}

function spendingText({ by, since, groups, account, currency, unknown }: Document<'spending'>): string {
  const money = (amount: string) => (currency === null ? amount : `${amount} ${currency}`);
  const rows = groups.map(({ name, runs, billed, unreported, overage, overageCost }) =>
    [
      `${name ?? `(no ${by}, or not known)`}: ${countText(billed)} billed in ${countOf(runs, 'run')}`,
      ...(unreported === 0 ? [] : [`${countText(unreported)} more may have been billed`]),
      ...(overage === 0 ? [] : [`${countText(overage)} beyond the quota for ${money(overageCost)}`]),
    ].join(', '),
  );
  const rest = account && [
    '',
    `account ${account.name}, period ${account.period ?? 'unknown'}: ${countText(account.sent)} ` +
      `sent by us, ${countText(account.unattributed)} of them not by the runs above; ` +
      `${countText(account.others)} by others`,
  ];
  return visibleLines([
    since === null ? 'no runs are known' : `runs since ${since.slice(0, 10)}, by ${by}`,
    ...rows,
    ...(rest ?? []),
    '',
    'not known:',
    ...unknown.map((each) => `  ${each}`),
  ]);
}

type SpendingGroup = Document<'spending'>['groups'][number];

/** Adds up spending, the dearest first. `price`: of one request beyond the quota. */
export function judgeSpending(by: SpendingBy, runs: readonly JudgedRun[], price: string): SpendingGroup[] {
  const groups = new Map<string | null, Omit<SpendingGroup, 'name' | 'overageCost'>>();
  for (const judged of runs) {
    const name = NAMES[by](judged.run);
    const sum = groups.get(name) ?? { runs: 0, billed: 0, unreported: 0, overage: 0 };
    const { billed, unreported, overage } = spentBy(judged);
    groups.set(name, {
      runs: sum.runs + 1 + (judged.run.earlier?.starts ?? 0),
      billed: sum.billed + billed,
      unreported: sum.unreported + unreported,
      overage: sum.overage + overage,
    });
  }
  const all = [...groups].map(([name, sum]) => ({ name, ...sum, overageCost: costOf(sum.overage, price) }));
  return all.sort((one, other) => other.billed + other.unreported - (one.billed + one.unreported));
}

const NAMES: Readonly<Record<SpendingBy, (run: RunRecord) => string | null>> = {
  input: ({ label }) => label.name,
  schedule: ({ owner }) => (isScheduleOwner(owner) ? owner.slice(owner.lastIndexOf('/') + 1) : null),
  person: ({ settings }) => settings.startedBy ?? null,
  month: ({ asOf }) => new Date(asOf).toISOString().slice(0, 7),
};

/** Returns what a run spent, with its earlier starts that stopped. */
function spentBy({ run, unreported }: JudgedRun) {
  const { earlier } = run;
  return {
    billed: run.tally.billed + (earlier?.billed ?? 0),
    unreported: unreported + (earlier?.unreported ?? 0),
    overage: run.overageBilled + (earlier?.overage ?? 0),
  };
}

/** Returns the requests of the period from `since` that none of these runs sent. */
export function unattributedOf(
  sent: number,
  runs: readonly JudgedRun[],
  account: string,
  since: number | null,
) {
  const ofPeriod = runs.filter(
    ({ run }) => run.settings.account === account && (since === null || run.asOf >= since),
  );
  const known = ofPeriod.map(spentBy).reduce((sum, { billed, unreported }) => sum + billed + unreported, 0);
  return Math.max(0, sent - known);
}
