/** The stage that may spend: estimate and consent, then the lookups by queue, ledger and worker. */
import { DeclinedError } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import type { Releasers } from '../../core/lifecycle.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import type { Engine } from '../../engine/engine.js';
import type { RunHalt, RunStop } from '../../engine/stores/run-reasons.js';
import {
  answeredOf,
  isAlive,
  queuedText,
  type RunProgress,
  type RunRecord,
  runsBefore,
} from '../../engine/stores/run-store.js';
import { unfit } from '../../engine/stores/store-calls.js';
import { permitMsOf } from '../../ledger/governor.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { limitOf, ownDomainWarning, sayWait } from '../../ledger/policy.js';
import type { WorkerListener } from '../../worker/asked.js';
import type { LookupWorker } from '../../worker/lookup-worker.js';
import { noteDeferred } from '../check-account.js';
import type { ActiveRun, EnrichRequest, EnrichRuntime } from '../enrich-request.js';
import { judgeAccount } from '../facts/judge-account.js';
import type { LookupsEnd } from '../run-end.js';
import { endRun, pauseNotice, recordStored } from '../run-record.js';
import { sayHold } from '../words/say-reason.js';
import { unansweredIn } from './collect-outcomes.js';
import { ChunkDispatcher, removeDeadChunks } from './dispatch-chunks.js';
import { openMatchCheck } from './match-check.js';
import { foreignTerms, type SpendingQuestion, spendingQuestion } from './spending.js';
import { type SweepContext, sweep, takeWaves } from './sweep.js';
import { spreadOver, trialResult } from './trial.js';

/** A killed worker's permits count as sent 15 s after its last sign of life; 5 s are reserve. */
const STRANDED_MS = 20_000;
const RUNS_LOOKED_AT = 20;
const LEAST_ENGINE_SHARE = 0.1;
const TAKE_EVERY_MS = 250;

export interface LookupsContext extends ActiveRun {
  readonly releasers: Releasers;
}

/** Returns the lookups of one run. Others follow their progress through the run's events. */
export function createRunLookups(context: LookupsContext) {
  const { request, runtime, collector, scan, run, releasers } = context;
  const { engine, clock, stop, emit } = runtime;
  const { account, service } = run.settings;
  const { answers } = scan;
  let storedAtStart = 0;
  /** The progress at the last look; null before the first. */
  let progress: RunProgress | null = null;
  let queued: string | null = null;
  /** The worker of this process; null before it is opened, or if workers are elsewhere. */
  let worker: LookupWorker | null = null;
  let isPaused = false;
  let takenAt = Number.NEGATIVE_INFINITY;
  let stranded: string | null = null;

  const tell = (text: Phrase, isWarning?: true) =>
    emit({ type: 'notice', text, ...(isWarning && { isWarning }) });

  function show(isParked = false): void {
    const { stored } = collector.summary.facts.identifiers;
    // The tally includes the answers that were stored at the start.
    const reported = progress === null ? 0 : answeredOf(progress) - storedAtStart;
    emit({
      type: 'progress',
      record: run,
      isParked,
      wanted: answers.wanted,
      answered: Math.min(answers.wanted, Math.max(answers.answered, stored + reported)),
      run: progress,
      ledger: worker?.ledgerState() ?? null,
      inFlight: worker?.inFlight ?? 0,
      outage: worker?.outage ?? null,
      queued: progress !== null && progress.tally.requests > 0 ? null : queued,
    });
  }

  async function lookUp(missing: number): Promise<LookupsEnd> {
    const { trial: asked } = request.settings;
    // A person ordered this before the run began, so not even the account is read.
    if (run.cancelled !== null) return { type: 'cancelled' };
    if (run.paused !== null && runtime.job !== undefined) return { type: 'paused' };
    await assertEngineRoom(engine);
    const check = await openMatchCheck(context);
    const held = await check.halt();
    if (held !== null) return { type: 'halted', halt: held };
    const state = await engine.ledger.show(account, run.id);
    const terms = foreignTerms(state, run.settings);
    if (terms !== null) tell(terms);
    const tried = asked === null || asked >= missing ? null : asked;
    await agreeOrEnd(tried ?? missing, state);
    const queue = engine.openChunkQueue(runtime.queueName);
    releasers.push(() => queue.close());
    // The time is read again, because a person may have taken long to answer.
    const { now } = await engine.ledger.show(account, run.id);
    const removed = await removeDeadChunks(engine, queue, now);
    if (removed > 0) tell(`removed ${countOf(removed, 'chunk')} of dead runs from the queue`);
    const sized = { ...run, identifiers: answers.wanted };
    const runs = await engine.runs.list(RUNS_LOOKED_AT);
    queued = queuedText(runsBefore(sized, runs, now));
    if (queued !== null) tell(`${queued}: runs take turns`);
    stranded = strandedNotice(state, run, runs);
    if (stranded !== null) tell(stranded);
    if (runtime.worker === null) tell(`workers elsewhere do the lookups: ${workerFor(service)}`);
    const opensAccount = runtime.opensAccount?.() ?? true;
    if (opensAccount) await engine.ledger.open(account, request.pace);

    const dispatcher = new ChunkDispatcher({
      ...runtime,
      queue,
      runId: run.id,
      maxFailures: maxFailuresOf(request.settings, answers.wanted),
      endsWhenPaused: runtime.job !== undefined,
      onProgress: follow,
      onSilence: tellSilence,
    });
    const onAnswer = collector.onAnswer.bind(collector);
    const listener = { onChunk: () => dispatcher.wake(), onAnswer };
    worker = await openWorker(runtime, run.id, listener, releasers);
    if (worker && opensAccount) {
      const refused = await readOwnBrand(worker, run, (notice) => tell(notice, true));
      if (refused) return { type: 'halted', halt: refused };
    }
    const findsQuota = tried === null && (await findsQuotaByLookup(missing, state));
    const trial = tried !== null || findsQuota ? trialOf(missing, tried) : null;
    try {
      const end = await sweep({ ...context, worker, dispatcher, check, onParked, trial });
      if (end.type === 'halted' && end.halt.why === 'limit') await noteNext();
      return end;
    } finally {
      await collector.close();
    }
  }

  /** Follows what the dispatcher sees, and takes answers of workers elsewhere. */
  async function follow(latest: RunProgress): Promise<void> {
    progress = latest;
    // The run of a file or a schedule that is paused alone ends instead, with its reason.
    const waits = latest.isPaused && (runtime.job === undefined || !latest.isPausedAlone);
    if (waits !== isPaused) tell(isPaused ? 'resumed' : await pauseNotice(engine, run.owner), true);
    isPaused = waits;
    if (!stop.aborted && clock.monotonic() - takenAt >= TAKE_EVERY_MS) {
      takenAt = clock.monotonic();
      const { matched, notFound, stored } = latest.tally;
      await collector.takeStoredSoFar(matched + notFound + stored);
    }
    show();
  }

  async function tellSilence(): Promise<void> {
    if (stranded !== null) return;
    const latest = await engine.ledger.show(account).catch(() => null);
    tell(silenceNotice(latest, { retryAt: worker?.retryAt ?? null, now: clock.now(), service }), true);
  }

  function onParked(halt: RunHalt | null): void {
    if (halt) emit({ type: 'parked', halt, ledger: worker?.ledgerState() ?? null });
    else tell('trying to spend again', true);
    if (halt?.why === 'limit')
      noteNext().catch((error) => runtime.log.debug({ err: error }, 'the next identifier was not noted'));
    show(halt !== null);
  }

  /** Notes the next identifier, for a check of the account that a person may order. */
  async function noteNext(): Promise<void> {
    for (const [next] of unansweredIn(scan, 1, 'priority'))
      if (next !== undefined) return noteDeferred(engine, run, next.text);
  }

  /** True if one lookup shall show an unknown quota; asks again if a free request showed it. */
  async function findsQuotaByLookup(missing: number, before: LedgerState): Promise<boolean> {
    if (limitOf(before) !== null) return false;
    const state = await engine.ledger.show(account, run.id);
    if (limitOf(state) === null) return runtime.asks !== undefined && missing > 1;
    await agreeOrEnd(missing, state);
    return false;
  }

  /** Returns a trial of `count` lookups; without a `count`, of the first one, to show the quota. */
  function trialOf(missing: number, count: number | null): SweepContext['trial'] {
    const [first = []] = count === null ? unansweredIn(scan, 1, 'priority') : [];
    const indexes = count === null ? first.map(({ index }) => index) : spreadOver(scan, missing, count);
    return {
      indexes,
      async continues() {
        const state = await engine.ledger.show(account, run.id);
        const result = await trialResult(indexes, count !== null, { scan, run, engine });
        return isAgreed(spendingQuestion(missing - indexes.length, state, request, result));
      },
    };
  }

  async function isAgreed(question: SpendingQuestion): Promise<boolean> {
    emit({ type: 'estimated', question });
    return runtime.confirm === undefined ? question.trial === null : runtime.confirm(question);
  }

  /** Asks for consent to spend. If refused, ends the run and throws `DeclinedError`. */
  async function agreeOrEnd(missing: number, state: LedgerState): Promise<void> {
    let agrees = false;
    try {
      agrees = await isAgreed(spendingQuestion(missing, state, request));
    } finally {
      if (!agrees) await engine.runs.end(run.id, { type: 'spending_declined' });
    }
    if (agrees) return;
    const subject = request.input === '-' ? 'stdin' : request.input;
    const todo = phrase`to continue, run again and answer y, or add ${{ setting: 'yes' }}`;
    throw new DeclinedError({ code: 'declined', subject, todo });
  }

  return {
    /** Takes stored answers and looks up the rest. Throws engine errors, and `DeclinedError`. */
    async run(): Promise<LookupsEnd> {
      const missing = await takeWaves(collector, scan, request.settings.waterfall, stop);
      storedAtStart = answers.answered;
      if (missing > 0) await recordStored(context, storedAtStart);
      show();
      return missing > 0 ? lookUp(missing) : { type: 'finished' };
    },
    end: (why: RunStop | null) => endRun(context, why, { progress, worker }),
  };
}

/** Throws `engine-unfit` with less than a tenth of the engine's memory free for paid answers. */
export async function assertEngineRoom(engine: Engine): Promise<void> {
  const free = await engine.freeMemory();
  if (free === null || free >= LEAST_ENGINE_SHARE) return;
  throw unfit(
    'the engine has too little memory left to store paid answers',
    `${engine.address}, ${Math.floor(free * 100)} % free`,
    'raise its maxmemory or purge old answers (`brand-enrich outcomes purge --older-than 7d`), ' +
      'then run again',
  );
}

async function openWorker(
  { worker: opened, stop, graceMs }: EnrichRuntime,
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
  stopAtSignal(worker, { stop, graceMs }, releasers);
  await worker.start();
  return worker;
}

/** Stops a worker when `stop` is aborted, or at the end; `releasers` wait for that. */
export function stopAtSignal(
  worker: LookupWorker,
  { stop, graceMs }: Pick<EnrichRuntime, 'stop' | 'graceMs'>,
  releasers: Releasers,
): void {
  const end = () => worker.stop(graceMs());
  const onStop = () => void end().catch(() => undefined);
  stop.addEventListener('abort', onStop, { once: true });
  releasers.push(() => {
    stop.removeEventListener('abort', onStop);
    return end();
  });
}

/** Reads quota and usage before spending. Returns a halt if the service refuses, else null. */
export async function readOwnBrand(
  worker: LookupWorker,
  run: RunRecord,
  warn: (notice: Phrase) => void,
): Promise<RunHalt | null> {
  const { ownDomain } = run.settings;
  const look = ownDomain === null ? null : await worker.readUsage(ownDomain, run);
  const warning = ownDomainWarning(worker.ledgerState(), run.settings);
  if (warning !== null) warn(warning);
  return look?.halt ?? null;
}

function maxFailuresOf({ maxErrors }: EnrichRequest['settings'], identifiers: number): number | null {
  if (maxErrors === null) return null;
  return 'count' in maxErrors ? maxErrors.count : Math.floor((identifiers * maxErrors.percent) / 100);
}

/** Names the service, because a worker asks only the one of its own settings. */
const workerFor = (service: string) =>
  `start them with \`brand-enrich worker --base-url ${service}\`, on this engine and with the same token`;

/** Says why no chunk finishes. `retryAt`: null if workers are elsewhere. */
export function silenceNotice(
  state: LedgerState | null,
  { retryAt, now, service }: { retryAt: number | null; now: number; service: string },
): string {
  const { waitsUntil = null, hold = null } = state === null ? {} : judgeAccount(state);
  const until = Math.max(waitsUntil ?? 0, retryAt ?? 0);
  if (until > now) return sayWait(until);
  if (hold !== null) return sayHold(hold, 'terminal');
  return retryAt !== null
    ? 'no chunk has finished for 15 seconds; the service may be slow, or may limit the rate'
    : `no worker has finished a chunk for 15 seconds; ${workerFor(service)}`;
}

/** Returns a notice if requests in flight of a killed run may hold this one back, else null. */
export function strandedNotice(
  { held, probes, now }: LedgerState,
  { id, asOf, settings: { account, timeoutMs } }: Pick<RunRecord, 'id' | 'asOf' | 'settings'>,
  runs: readonly RunRecord[],
): string | null {
  const endsAt = asOf + Math.min(permitMsOf(timeoutMs), STRANDED_MS);
  const isOther = (run: RunRecord) => run.id !== id && run.settings.account === account;
  if (held + probes === 0 || endsAt <= now || runs.some((run) => isOther(run) && isAlive(run, now)))
    return null;
  const until = new Date(endsAt).toISOString().slice(11, 19);
  return (
    `a killed run holds ${countOf(held + probes, 'permit')} until ${until} UTC: its requests in flight ` +
    'may have been billed and then count as spent'
  );
}
