/** Who spent what, by the records of runs that the engine still has. Pure. */
import { costOf } from '../../core/decimal.js';
import { type RunRecord, scheduleNameOf } from '../../engine/stores/run-store.js';
import type { JudgedRun } from './judge-runs.js';

export type SpendingBy = 'input' | 'schedule' | 'person' | 'month';

export interface SpendingGroup {
  /** null: none, or it is not known. */
  readonly name: string | null;
  readonly runs: number;
  readonly billed: number;
  readonly unreported: number;
  readonly overage: number;
  /** Exact decimal text. */
  readonly overageCost: string;
}

/** The dearest first. `price`: of one request beyond the quota. */
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
  schedule: ({ owner }) => scheduleNameOf(owner),
  person: ({ settings }) => settings.startedBy ?? null,
  month: ({ asOf }) => new Date(asOf).toISOString().slice(0, 7),
};

/** With its earlier starts that stopped. */
function spentBy({ run, unreported }: JudgedRun) {
  const { earlier } = run;
  return {
    billed: run.tally.billed + (earlier?.billed ?? 0),
    unreported: unreported + (earlier?.unreported ?? 0),
    overage: run.overageBilled + (earlier?.overage ?? 0),
  };
}

/**
 * Of what the engine has counted on an account in its period, what these runs do not explain.
 * `since`: the first moment of the period; null: it never ends.
 */
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
