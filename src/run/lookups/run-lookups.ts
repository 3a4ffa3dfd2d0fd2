/**
 * The stage that may spend: estimate and consent first, then queue, ledger and worker are opened, and what is missing
 * is asked for. Everything opened here is released by the caller's releasers.
 */

import { DeclinedError } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import type { Releasers } from '../../core/lifecycle.js';
import { permitMsOf } from '../../ledger/governor.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { limitOf, spentOf } from '../../ledger/policy.js';
import { isAlive, type RunHalt, type RunProgress, type RunRecord } from '../../stores/run-store.js';
import { foreign } from '../../worker/halt-reasons.js';
import type { LookupWorker } from '../../worker/lookup-worker.js';
import type { WorkerListener } from '../../worker/worker-listener.js';
import type { EnrichProgress, EnrichRequest, EnrichSurroundings } from '../enrich-request.js';
import type { RunFacts } from '../report/run-summary.js';
import type { Scan } from '../scan/scan.js';
import type { CollectContext } from './collect-outcomes.js';
import { createLiveCollector } from './collect-outcomes.js';
import { createWake, removeDeadChunks } from './dispatch-chunks.js';
import { assertEngineRoom } from './headroom.js';
import { estimateSpending } from './spending.js';
import { type LookupsEnd, sweep } from './sweep.js';

/** Permits of a worker that was killed count as sent 15 s after its last sign of life, as soon as somebody waits for them. */
const STRANDED_MS = 20_000;
/** Newest runs among which others of the account are looked for. */
const RUNS_LOOKED_AT = 20;

export interface LookupsContext {
  readonly request: EnrichRequest;
  readonly around: EnrichSurroundings;
  readonly collect: CollectContext;
  readonly scan: Scan;
  readonly run: RunRecord;
  readonly releasers: Releasers;
  /** Where the run stands, whenever something has changed. */
  readonly show: (
    phase: EnrichProgress['phase'],
    progress: RunProgress | null,
    worker: LookupWorker | null,
  ) => void;
}

/** Asks for `missing` identifiers. Throws engine trouble, and `DeclinedError`. */
export async function runLookups(context: LookupsContext, missing: number): Promise<LookupsEnd> {
  const { request, around, collect, scan, run, releasers } = context;
  const { engine, stop, clock, log, onNotice } = around;
  const { account, timeoutMs } = request.settings;
  await assertEngineRoom(engine);
  const state = await engine.ledger.show(account, run.id);
  for (const notice of foreignTerms(state, request.settings)) onNotice(notice);
  const { overage, quotaCap } = state;
  const settings = { ...request.settings, overage, quotaCap };
  const estimate = estimateSpending(missing, state, { settings, overagePrice: request.overagePrice });
  let isAgreed = false;
  try {
    isAgreed = await around.confirm(estimate);
  } finally {
    if (!isAgreed) await engine.runs.end(run.id, 'stopped', 'the spending was not agreed to');
  }
  if (!isAgreed) throw declined(request.input);
  const line = engine.openChunkQueue(around.queueName);
  releasers.push(() => line.close());
  const removed = await removeDeadChunks(engine, line, run.asOf);
  if (removed > 0)
    onNotice(`removed from the queue: ${countOf(removed, 'chunk')} of runs that are no longer alive`);
  const opensAccount = around.opensAccount?.() ?? true;
  if (opensAccount) await engine.ledger.open(account, request.pace);

  const wake = createWake(clock);
  const live = createLiveCollector(collect);
  const listener = { onChunk: () => wake.wake(), onAnswer: live.onAnswer };
  const worker = await openWorker(around, run.id, listener, releasers);
  if (worker && opensAccount) {
    const refused = await readOwnBrand(worker, request, run);
    if (refused) return { type: 'halted', halt: refused };
  }
  const stranded = state.held + state.probes > 0 ? await whoIsWaitedFor(context, 0).catch(() => null) : null;
  if (stranded !== null) onNotice(stranded, true);
  let progress: RunProgress | null = null;
  let isWarned = false;
  const warnOfNonsense = (latest: RunProgress) => {
    const warning = isWarned
      ? null
      : noMatchWarning(latest.tally, collect.summary.facts, scan.chosen.choices);
    if (warning === null) return;
    isWarned = true;
    onNotice(warning);
  };
  const end = sweep({
    collect,
    scan,
    run,
    line,
    worker,
    isWorkerShared: around.worker?.type === 'shared',
    waterfall: request.scan.waterfall,
    onLimit: request.onLimit,
    ownDomain: request.ownDomain,
    maxFailures: maxFailuresOf(request, scan.answers.wanted),
    graceMs: () => (stop.aborted ? around.graceMs() : timeoutMs),
    stop,
    wake,
    expect: live.expect,
    clock,
    log,
    onProgress: (latest) => {
      progress = latest;
      warnOfNonsense(latest);
      context.show('asking', latest, worker);
    },
    onParked: (halt) => {
      onNotice(halt ? `parked: ${halt.sentence}; goes on by itself` : 'spending may be possible again', true);
      context.show(halt ? 'parked' : 'asking', progress, worker);
    },
    onSilence: () => {
      const isServed = worker !== null;
      const inFlight = worker?.inFlight ?? 0;
      void whoIsWaitedFor(context, inFlight)
        .catch(() => null)
        .then((still) => {
          // Said when the run began.
          if (still === null || stranded === null) onNotice(still ?? silenceNotice(isServed), true);
        });
    },
  });
  return end.finally(() => live.close());
}

/** A worker of the run's own is started here and stopped at the signal; a shared one only listened to. */
async function openWorker(
  { worker: opened, stop, graceMs }: EnrichSurroundings,
  runId: string,
  listener: WorkerListener,
  releasers: Releasers,
): Promise<LookupWorker | null> {
  if (opened === null) return null;
  if (opened.type === 'shared') {
    const unlisten = opened.listen(listener);
    releasers.push(() => {
      unlisten();
      opened.worker.resumeRun(runId);
    });
    return opened.worker;
  }
  const worker = opened.open(listener);
  const end = () => worker.stop(graceMs());
  // At once, while the run looks whether its engine is still there.
  const onStop = () => void end().catch(() => undefined);
  stop.addEventListener('abort', onStop, { once: true });
  releasers.push(async () => {
    stop.removeEventListener('abort', onStop);
    await end();
  });
  await worker.start();
  return worker;
}

function declined(input: string): DeclinedError {
  return new DeclinedError({
    code: 'declined',
    subject: input === '-' ? 'stdin' : input,
    todo: 'run again and answer y, or add --yes, to go on',
  });
}

/** Of several live runs of an account the lowest limits hold: those that are not this run's own. */
export function foreignTerms(
  held: Pick<LedgerState, 'overage' | 'quotaCap'>,
  own: Pick<LedgerState, 'overage' | 'quotaCap'>,
): string[] {
  const lower: string[] = [];
  if (held.quotaCap !== null && held.quotaCap < (own.quotaCap ?? Number.POSITIVE_INFINITY))
    lower.push(`--quota ${held.quotaCap}`);
  if (held.overage < own.overage) lower.push(`a budget of ${countOf(held.overage, 'overage request')}`);
  if (lower.length === 0) return [];
  return [
    `another run of this account has ${lower.join(' and ')}: the lower holds until that run has ended, or has been dead for 30 s`,
  ];
}

/** Quota and usage before any money is spent; a refusal of the credentials or a wrong address ends the run there. */
async function readOwnBrand(
  worker: LookupWorker,
  request: EnrichRequest,
  run: RunRecord,
): Promise<RunHalt | null> {
  if (request.ownDomain === null) return null;
  const look = await worker.readUsage(request.ownDomain, run);
  if (look?.worth === 'foreign') return foreign(run.settings.service, look.answer);
  const meaning = look?.answer.meaning;
  if (meaning?.type !== 'credentials') return null;
  return { why: 'credentials', sentence: `${meaning.reason} (status ${meaning.status})` };
}

/** So many answers and no brand among them are worth a word. */
const MISSES_AT_LEAST = 20;

/** What is said when nothing that was asked for is known to the service; null while there is no reason to. Pure. */
export function noMatchWarning(
  asked: Pick<RunProgress['tally'], 'matched' | 'notFound'>,
  { identifiers }: Pick<RunFacts, 'identifiers'>,
  choices: Scan['chosen']['choices'],
): string | null {
  if (asked.notFound < MISSES_AT_LEAST || asked.matched > 0 || identifiers.matched > 0) return null;
  const columns = choices.map(
    ({ column, name, kind }) => `${name === '' ? column + 1 : `"${name}"`} (${kind})`,
  );
  return `warning: ${asked.notFound} identifiers were asked for and the service knows none of them; is column ${columns.join(', then ')} right? Ctrl-C stops, --column NAME:KIND names another`;
}

function maxFailuresOf(request: EnrichRequest, identifiers: number): number | null {
  const { maxErrors } = request;
  if (maxErrors === null) return null;
  return 'count' in maxErrors ? maxErrors.count : Math.floor((identifiers * maxErrors.percent) / 100);
}

/** Permits of a run that was killed, when it is those that the run waits for; null: it is something else. */
async function whoIsWaitedFor(
  { request, around, run }: LookupsContext,
  inFlight: number,
): Promise<string | null> {
  const { engine } = around;
  const { account, timeoutMs } = request.settings;
  const [state, runs] = await Promise.all([engine.ledger.show(account), engine.runs.list(RUNS_LOOKED_AT)]);
  const isAlone = !runs.some(
    (other) => other.id !== run.id && other.settings.account === account && isAlive(other, state.now),
  );
  const endsAt = run.asOf + Math.min(permitMsOf(timeoutMs), STRANDED_MS);
  return strandedNotice(state, { isAlone, inFlight, endsAt });
}

/**
 * What is said while the last of the limit is out with nobody who could still use it; null when that is not so. `endsAt`: store's
 * clock, when permits from before this run have run out.
 */
export function strandedNotice(
  state: LedgerState,
  { isAlone, inFlight, endsAt }: { isAlone: boolean; inFlight: number; endsAt: number },
): string | null {
  const limit = limitOf(state);
  const stranded = state.held + state.probes - inFlight;
  const isShort = limit === null || spentOf(state) >= limit;
  if (!isAlone || stranded <= 0 || !isShort || endsAt <= state.now) return null;
  const until = new Date(endsAt).toISOString().slice(11, 19);
  return `waiting for ${countOf(stranded, 'permit')} of a killed run until ${until} UTC: what it had in flight may have been billed and counts as spent then`;
}

/** `isServed`: this process has a worker. */
function silenceNotice(isServed: boolean): string {
  return isServed
    ? 'no chunk has finished for 15 seconds; the service may be slow, or may be making us wait'
    : 'no worker has finished a chunk for 15 seconds; start one with `brand-enrich worker` on the same engine and with the same token';
}
