/**
 * The runs of a program's lookups, which tell the engine its caps and terms. A run begins with a
 * lookup that is not stored, and ends after an idle time. After a stop none begins for a minute.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { assertDiskRoom } from '../core/disk-room.js';
import { AuthenticationError, type BrandEnrichError, RunError } from '../core/errors.js';
import { createReleasers, type Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { Freshness, StopCode } from '../core/outcome.js';
import type { Phrase } from '../core/phrase.js';
import { userAtHost } from '../core/process-identity.js';
import type { Engine } from '../engine/engine.js';
import type { RunHalt, RunStop } from '../engine/stores/run-reasons.js';
import {
  freshnessOf,
  keyOfDay,
  type LookupFailure,
  type RunRecord,
  type RunSettings,
} from '../engine/stores/run-store.js';
import { RULES } from '../ledger/rules.js';
import type { EnrichRequest } from '../run/enrich-request.js';
import { assertEngineRoom, readOwnBrand } from '../run/lookups/run-lookups.js';
import { foreignTerms } from '../run/lookups/spending.js';
import { type LookupsEnd, stopCodeOf, stopOf } from '../run/run-end.js';
import { newRunId, startRun, stopOfError } from '../run/run-record.js';
import { createStanding } from '../run/run-view.js';
import { sayDeferred, sayHalt, sayTo } from '../run/words/say-reason.js';
import type { LookupWorker } from '../worker/lookup-worker.js';

/** Idle time until a run ends, because a live run may lower the budget of others. */
const IDLE_MS = 30_000;
/** Time until a new run begins, because a run judges the age of answers by its start. */
const RENEWED_AFTER_MS = 3_600_000;
/** Rest after a stop: the ledger lets one request a minute ask whether there is room again. */
const REST_MS = RULES.probeEveryMs;

export interface ProgramRun {
  readonly record: RunRecord;
  /** Failed lookups that were paid for, by outcome key. */
  readonly paidFailures: Map<string, LookupFailure>;
  nextChunk: number;
}

interface OpenRun extends ProgramRun {
  readonly beganAt: number;
  readonly releasers: Releasers;
  users: number;
  idle?: NodeJS.Timeout;
  /** Why the run takes no more lookups; null while it does. */
  end: LookupsEnd | null;
}

/** Why lookups rest. `error`: for the caller if a person must act; else rows are deferred. */
export interface Rest {
  readonly error: BrandEnrichError | null;
  readonly stopped: StopCode;
  readonly why: string;
  /** True if waiting may help. */
  readonly passes: boolean;
  readonly leftMs: number;
}

export interface ProgramRunsOptions extends Pick<EnrichRequest, 'pace'> {
  readonly settings: EnrichRequest['runSettings'];
  readonly engine: Engine;
  readonly worker: LookupWorker;
  readonly clock: Clock;
  readonly log: Log;
  readonly stateFolder: string;
  /** Name that caps are kept under; null to keep them for this process only. */
  readonly name: string | null;
  /** See `EnricherFrame`. Its days begin by the store's clock (UTC). */
  readonly owner: string | null;
  /** Time of the store's clock at the call. */
  readonly storeTime: number;
}

export type ProgramRuns = ReturnType<typeof createProgramRuns>;

/** Creates the runs of a program. Nothing begins before the first lookup. */
export function createProgramRuns(options: ProgramRunsOptions) {
  const { engine, worker, clock, log, settings, name, owner, storeTime } = options;
  const openedAt = clock.monotonic();
  const storeNow = () => storeTime + clock.monotonic() - openedAt;
  const programKey = runKeyOf(settings, name ?? randomUUID());
  const key = () => (owner === null ? programKey : keyOfDay(owner, settings, storeNow()));
  // With any of these the engine keeps caps or the start of the refresh until a run completes.
  const keepsKey = settings.refresh || settings.maxRequests !== null || settings.maxOverageRequests !== null;
  let current: OpenRun | null = null;
  let beginning: Promise<OpenRun> | null = null;
  let hasOpenedAccount = false;
  let lastStop: { readonly end: LookupsEnd; readonly until: number } | null = null;
  const ending = new Set<Promise<void>>();
  const standing = createStanding(log, worker);

  async function begin(): Promise<OpenRun> {
    await assertEngineRoom(engine);
    await assertDiskRoom([options.stateFolder]);
    const releasers = createReleasers();
    const id = newRunId(clock.now());
    const ofJob = owner !== null && { job: id, owner, startedBy: userAtHost() };
    const started = { id, key: key(), name: name ?? 'a program', settings, ...ofJob };
    const record = await startRun(started, { engine, log }, releasers);
    const run: OpenRun = {
      record,
      releasers,
      beganAt: clock.monotonic(),
      paidFailures: new Map(),
      nextChunk: 0,
      users: 0,
      end: null,
    };
    try {
      const warn = (notice: Phrase) => log.warn(sayTo('program', notice));
      const terms = foreignTerms(await engine.ledger.show(settings.account, record.id), settings);
      if (terms !== null) warn(terms);
      if (!hasOpenedAccount) await engine.ledger.open(settings.account, options.pace);
      const halt = hasOpenedAccount ? null : await readOwnBrand(worker, record, warn);
      hasOpenedAccount = true;
      current = run;
      if (halt) stop(run, { type: 'halted', halt });
      return run;
    } catch (error) {
      await finish(run, stopOfError(error));
      throw error;
    }
  }

  /** Stops a run, and lets no other one begin for a while. */
  function stop(run: OpenRun, end: LookupsEnd): void {
    if (run.end !== null) return;
    run.end = end;
    if (current === run) current = null;
    // A person who cancels means all further lookups of the program.
    const restMs = end.type === 'cancelled' ? Number.POSITIVE_INFINITY : REST_MS;
    lastStop = { end, until: clock.monotonic() + restMs };
    log.warn({ run: run.record.id }, whyOf(end));
  }

  function finish(run: OpenRun, why: RunStop | null): Promise<void> {
    if (current === run) current = null;
    clearTimeout(run.idle);
    const finished = run.releasers
      .releaseAll()
      .then(() => engine.runs.end(run.record.id, why))
      .catch((error) => log.warn({ err: error }, 'the engine could not store that a run has ended'))
      .finally(() => ending.delete(finished));
    ending.add(finished);
    return finished;
  }

  function finishUnused(run: OpenRun): void {
    if (run.users > 0) return;
    if (run.end !== null) void finish(run, stopOf(run.end));
    else if (run !== current) void finish(run, keepsKey ? { type: 'renewed' } : null);
    else if (!keepsKey) run.idle = setTimeout(() => void finish(run, null), IDLE_MS).unref();
  }

  return {
    key,
    /** Returns the run for a lookup, to `leave` afterwards. Throws if a run cannot begin. */
    async enter(): Promise<ProgramRun> {
      const old = current;
      const isOld = old !== null && clock.monotonic() - old.beganAt > RENEWED_AFTER_MS;
      if (old !== null && (isOld || old.record.key !== key())) {
        current = null;
        finishUnused(old);
      }
      let run = current;
      if (run === null) {
        beginning ??= begin().finally(() => {
          beginning = null;
        });
        run = await beginning;
      }
      clearTimeout(run.idle);
      run.users += 1;
      return run;
    },
    leave(run: ProgramRun): void {
      const open = run as OpenRun;
      open.users -= 1;
      standing({ ledger: worker.ledgerState(), outage: worker.outage });
      finishUnused(open);
    },
    /** True if a person or a worker stopped the run. Throws engine errors. */
    async isStopped(run: ProgramRun): Promise<boolean> {
      const { halt, isCancelled } = await engine.runs.heartbeat(run.record.id).catch((error) => {
        // A flushed engine does not know the run, so the next lookup begins another one.
        if (current === run) current = null;
        throw error;
      });
      if (isCancelled) stop(run as OpenRun, { type: 'cancelled' });
      else if (halt) stop(run as OpenRun, { type: 'halted', halt });
      return isCancelled || halt !== null;
    },
    /** Returns why lookups rest; null unless they do. */
    rest(): Rest | null {
      const leftMs = lastStop === null ? 0 : lastStop.until - clock.monotonic();
      if (lastStop === null || leftMs <= 0) return null;
      const { end } = lastStop;
      const halt = end.type === 'halted' ? end.halt : null;
      const passes = halt?.why === 'limit' || halt?.why === 'throttled';
      const error = halt && errorOfHalt(halt, settings.service);
      return { error, stopped: stopCodeOf(end), why: whyOf(end), passes, leftMs };
    },
    /** Returns which stored answers are fresh at this moment. */
    freshness(): Freshness {
      const asOf = storeNow();
      return freshnessOf(current?.record ?? { asOf, keyStartedAt: storeTime, settings });
    },
    /** Ends the current run. `isWhole`: no caller was still waiting. */
    async close(isWhole: boolean): Promise<void> {
      await beginning?.catch(() => undefined);
      if (current !== null) void finish(current, isWhole ? null : { type: 'closed' });
      await Promise.all(ending);
    },
  };
}

/** Returns a key that is equal for the same program, service, account and `allowNsfw`. */
function runKeyOf({ service, account, allowNsfw }: RunSettings, name: string): string {
  const parts = JSON.stringify(['program', name, service, account, allowNsfw]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}

function whyOf(end: LookupsEnd): string {
  return sayDeferred(stopOf(end) ?? { type: 'stopped' }, 'program');
}

/** Returns the error of a halt that waiting does not end; null if it may. */
function errorOfHalt(halt: RunHalt, service: string): BrandEnrichError | null {
  const { why } = halt;
  const sentence = sayHalt(halt, 'program');
  if (why === 'credentials') {
    const todo = 'check the token, then create a new enricher: nothing is lost';
    return new AuthenticationError({
      code: 'credentials-refused',
      subject: `${service} (${sentence})`,
      todo,
    });
  }
  if (why !== 'unreachable' && why !== 'useless') return null;
  const orUnknown =
    why === 'useless' ? '; if the service is known not to have these brands, set minMatch to 0' : '';
  const todo = `check baseUrl, the network, HTTPS_PROXY in env, and the service${orUnknown}`;
  return new RunError({ code: 'service-unreachable', what: sentence, subject: service, todo });
}
