/** Random histories: `status`, its JSON, both pages and the report say the same of each moment. */
import { expect, it } from 'vitest';
import { statusText } from '../../../src/commands/admin.js';
import { EXIT } from '../../../src/core/errors.js';
import { countText } from '../../../src/core/figures.js';
import { statusOf } from '../../../src/dashboard/gather-dashboard.js';
import type { RunStop } from '../../../src/engine/stores/run-reasons.js';
import { isHeld, type RunRecord } from '../../../src/engine/stores/run-store.js';
import type { LedgerState } from '../../../src/ledger/ledger.js';
import type { Hold } from '../../../src/ledger/policy.js';
import { createChance } from '../../../src/local-service/faults.js';
import { makeReport } from '../../../src/run/report/report.js';
import { stopOf } from '../../../src/run/run-end.js';
import { requestFor, resultOf } from '../../commands/results.js';
import { dashboardData, dashboardView, NOW, renderParts, runRecord } from '../../dashboard/views.js';
import { HALTS } from '../../support/halts.js';
import { CASES, casesOf } from '../../support/properties.js';
import { ledgerState } from '../ledger-state.js';
import { pageOf } from './run-page-of.js';

const HISTORIES = casesOf(300);
/** The words of `status` and of JSON that belong to each mark of the pages. */
const SAME: Readonly<Record<string, readonly [word: string, standing: string]>> = {
  Starting: ['running', 'running'],
  Running: ['running', 'running'],
  Waiting: ['waiting', 'held'],
  Dead: ['dead', 'dead'],
  Finished: ['finished', 'finished'],
  'Nothing matched': ['finished', 'finished'],
  Stopped: ['stopped', 'stopped'],
  Cancelled: ['cancelled', 'cancelled'],
};
const HELD_BANNERS: Readonly<Record<Hold, RegExp>> = {
  paused: /All spending is paused/,
  closed: /The service refused further lookups/,
  'used up': /The limit is used up\. Work/,
};
const ADA = { by: 'ada@office', at: NOW };

it('the terminal, the page and the documents judge every history alike', CASES, async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const { runs, ledger, others, gone } = historyOf(diceOf(seed));
    const data = dashboardData({ runs, ledger, otherHolds: others, gone, budget: null, projection: null });
    const view = dashboardView({ data });
    const json = statusOf(view).data;
    const text = statusText(data, []);
    const page = renderParts(view);
    const where = `history ${seed}`;

    const hold = json?.hold ?? null;
    for (const [each, banner] of Object.entries(HELD_BANNERS))
      expect(banner.test(page), `${where}: ${each}`).toBe(each === hold);
    const left = json?.account?.left ?? null;
    expect(lineOf(text, 'left ')?.split(/ +/)[1], where).toBe(left === null ? undefined : countText(left));
    const used = json?.account?.used;
    expect(/<p class="lead"><strong>([\d,]+)</.exec(page)?.[1], where).toBe(
      used === undefined ? undefined : countText(used),
    );
    expect(hold === 'used up' && left !== 0, where).toBe(false);

    for (const run of runs) {
      const of = `${where}, ${run.id}`;
      const document = json?.runs.find(({ id }) => id === run.id);
      const line = lineOf(text, `${run.id} `) ?? '';
      const runPage = await pageOf(run, view);
      const mark = /<h1>.*?<span class="verdict[^"]*"[^>]*>([^<]*)</s.exec(runPage)?.[1] ?? '';
      seen.add(mark);
      const item = page.split('<li class="run">').find((each) => each.includes(`href="/runs/${run.id}"`));
      expect(/<span class="state[^"]*">([^<]*)</.exec(item ?? '')?.[1] ?? mark, of).toBe(mark);
      const [word, judged] = SAME[mark] ?? ['paused', document?.status];
      // A held run waits for a person, and no process works on it.
      const standing = isHeld(run) && mark === 'Waiting' ? 'stopped' : judged;
      expect([line.split(/ +/)[1], document?.status], of).toEqual([word, standing]);
      if (mark === 'Paused') expect(document, of).toMatchObject({ isPaused: true });
      expect(document?.nothingMatched, of).toBe(mark === 'Nothing matched');
      expect(line.endsWith(': nothing matched'), of).toBe(document?.nothingMatched);
      if (hold === 'paused' && document?.status === 'running') expect(document.identifiers.left, of).toBe(0);
      expect(line.includes('more may have been billed'), of).toBe((document?.requests.unreported ?? 0) > 0);
      expect(runPage.includes('May also have been billed'), of).toBe(
        (document?.requests.unreported ?? 0) > 0,
      );
      if (document?.queued) for (const face of [line, runPage]) expect(face, of).toContain(document.queued);

      const report = reportOf(run, ledger);
      if (report === null) continue;
      expect(report.run.isComplete, of).toBe(document?.status === 'finished');
      expect(report.run.nothingMatched, of).toBe(document?.nothingMatched);
      expect(report.reason, of).toBe(run.stop?.type === 'halted' ? document?.reason : null);
      if (report.reason !== null && run.paused === null) expect(line, of).toContain(report.reason);
      expect(report.requests, of).toMatchObject({
        sent: document?.requests.sent,
        billed: document?.requests.billed,
        overage: document?.requests.overage,
      });
      if (ledger !== null) expect(json?.account, of).toMatchObject(report.account ?? {});
    }
  }
  expect([...seen].sort()).toEqual([...Object.keys(SAME), 'Paused'].sort());
});

type Dice = ReturnType<typeof diceOf>;

/** The same for a seed. */
function diceOf(seed: number) {
  const next = createChance(seed, 0);
  return {
    upTo: (most: number) => Math.floor(next() * (most + 1)),
    pick: <T>(...list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
    /** One time in so many. */
    once: (times: number) => next() * times < 1,
  };
}

function historyOf(dice: Dice) {
  const runs = Array.from({ length: 1 + dice.upTo(3) }, (_, at) => anyRun(dice, `r-${at}`));
  return {
    runs,
    ledger: dice.once(12) ? null : anyLedger(dice),
    others: new Map([['other', dice.pick<Hold | null>(null, 'paused', 'closed', 'used up')]]),
    gone: new Set(runs.flatMap(({ id, status }) => (status === 'running' && dice.once(6) ? [id] : []))),
  };
}

function anyLedger(dice: Dice): LedgerState {
  const quota = dice.pick(null, 0, 40, 100);
  return ledgerState({
    now: NOW,
    period: '2026-11-01',
    quota,
    quotaCap: dice.pick(null, null, 30, 200),
    overage: dice.pick(0, 0, 25),
    sent: dice.upTo(60),
    others: dice.upTo(40),
    held: dice.pick(0, 0, dice.upTo(10)),
    probes: dice.pick(0, 0, 1),
    isPaused: dice.once(6),
    closedAt: dice.once(6) ? NOW - 60_000 : null,
    isTurnUnconfirmed: dice.once(8),
  });
}

function anyRun(dice: Dice, id: string): RunRecord {
  const status = dice.pick<RunRecord['status']>('running', 'running', 'completed', 'stopped', 'cancelled');
  const isOver = status === 'completed';
  const [matched, notFound, failed, stored] = [
    dice.pick(0, dice.upTo(9)),
    dice.upTo(9),
    dice.upTo(3),
    dice.pick(0, 7),
  ];
  const answered = matched + notFound + failed + stored;
  const left = isOver || dice.once(5) ? 0 : dice.upTo(40);
  const identifiers = !isOver && dice.once(8) ? null : answered + left;
  const requests = dice.once(4) && !isOver ? 0 : matched + notFound + failed;
  const mayGoOn = status === 'running' || status === 'stopped';
  const asOf = NOW - 60_000 - dice.upTo(600_000);
  const stop: RunStop = dice.pick<RunStop>(
    { type: 'stopped' },
    { type: 'failed', reason: 'an output cannot be written: list.enriched.csv' },
    { type: 'paused' },
    { type: 'declined' },
    { type: 'too_many_failures' },
    ...Object.values(HALTS).map((halt) => ({ type: 'halted', halt }) as const),
  );
  return runRecord({
    id,
    key: id,
    // Of a file in an inbox, or a command.
    job: dice.pick(id, `job-${id}`),
    label: { host: 'etl-1', name: `${id}.csv` },
    asOf,
    heartbeatAt: NOW - dice.pick(1_000, 29_000, 31_000, 400_000),
    status,
    endedAt: status === 'running' ? null : NOW - dice.pick(1_000, 400_000),
    paused: mayGoOn && dice.once(4) ? ADA : null,
    cancelled: status === 'cancelled' ? ADA : null,
    stop: status === 'stopped' ? stop : status === 'cancelled' ? { type: 'cancelled' } : null,
    rows: identifiers,
    identifiers,
    spent: requests + dice.pick(0, 0, dice.upTo(4)),
    overageBilled: dice.pick(0, dice.upTo(5)),
    tally: { matched, notFound, failed, stored, requests, billed: requests },
    settings: {
      account: dice.once(4) ? 'other' : runRecord().settings.account,
      maxRequests: dice.pick(null, null, 5),
    },
  });
}

/** What the run wrote at its end; null for a run that is alive or was killed. */
function reportOf(run: RunRecord, ledger: LedgerState | null) {
  const { stop, tally, spent, overageBilled } = run;
  if (run.status === 'running' || run.identifiers === null) return null;
  const ends = stop === null ? ({ type: 'finished' } as const) : stop;
  if (['failed', 'killed', 'closed', 'renewed', 'spending_declined'].includes(ends.type)) return null;
  const end = ends as Parameters<typeof stopOf>[0];
  expect(stopOf(end)).toEqual(stop);
  const answered = tally.matched + tally.notFound + tally.failed + tally.stored;
  const result = resultOf({
    end,
    isComplete: end.type === 'finished',
    rows: {
      matched: tally.matched + tally.stored,
      not_found: tally.notFound,
      failed: tally.failed,
      deferred: run.identifiers - answered,
    },
    tally,
    spent,
    overageBilled,
    ledger,
  });
  return makeReport(requestFor(), result, end.type === 'finished' ? EXIT.done : EXIT.interrupted);
}

const lineOf = (text: string, start: string) => text.split('\n').find((line) => line.startsWith(start));
