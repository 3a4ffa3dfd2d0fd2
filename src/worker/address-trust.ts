/**
 * What the engine knows of the address of a service, for all workers and later runs: whether it
 * ever gave a good answer, which refusals are not trusted yet, and how many answers in a row were
 * unusable.
 *
 * Until the first good answer each request is an exclusive probe, whatever the number of workers: a
 * wrong address is paid for once, or five times where it answers in JSON, and not for every slot.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { NewOutcome, OutcomeKey } from '../core/outcome.js';
import { flag, inJson, object, optional, orElse, type Shaped, text } from '../core/shapes.js';
import type { KeyValueStore } from '../engine/stores/key-value-store.js';
import { serviceTag } from '../engine/stores/outcome-key.js';
import { RULES } from '../ledger/rules.js';
import { BUSY_RETRY_MS } from './retry-policy.js';

/** By `serviceTag`: addresses that gave a good answer. */
const TRUSTED = 'services';
/** By `serviceTag`: the worker with the exclusive probe. */
const EXCLUSIVE = 'services-alone';

/** Older ones belong to an earlier outage. */
const ROW_MS = 600_000;
/** A 404 that is confirmed later than this is looked up again. */
const UNTRUSTED_KEPT_MS = 3_600_000;
/** A good answer of this worker ends a row of unusable ones of other workers within this time. */
const CLEAR_EVERY_MS = 1_000;
const ENGINE_RETRY_MS = 1_000;

export interface AddressTrustOptions {
  readonly keyValues: KeyValueStore;
  readonly service: string;
  readonly worker: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Ends a request that needs no exclusive probe. */
const NOT_EXCLUSIVE = async (): Promise<unknown> => undefined;

/** An answer that could not be trusted yet. */
const untrustedShape = object({
  run: text,
  billed: flag,
  /** Not a 404: it is counted, and never recorded. */
  isFailure: optional(flag),
});
type Untrusted = Shaped<typeof untrustedShape>;
/** null: written by another program, or damaged. */
const untrustedOf = orElse(inJson(untrustedShape), null);

export type AddressTrust = ReturnType<typeof createAddressTrust>;

/** One per process and service. Engine errors are retried or logged, never thrown. */
export function createAddressTrust(options: AddressTrustOptions) {
  const { keyValues, service, worker, clock, log } = options;
  const tag = serviceTag(service);
  /** By outcome key: answers of this service that cannot be trusted yet. */
  const untrusted = `untrusted-${tag}`;
  /** By permit: unusable answers of this service since the last good one. */
  const unusable = `unusable-${tag}`;
  let isKnownTrusted = false;
  let isTrustKept = false;
  let hasSeenUnusable = false;
  let clearedAt = Number.NEGATIVE_INFINITY;
  /** Resolves when the current probe of this process has ended. */
  let probe: Promise<void> = Promise.resolve();

  /** The engine's answer, or `otherwise` once it is given up: nothing is sent without it anyway. */
  async function asked<T>(answer: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      const reason = errorText(error);
      log.warn({ reason }, 'the trust in the address could not be read or written');
      await clock.sleep(ENGINE_RETRY_MS);
      return otherwise;
    }
  }

  /** All in the scope, with what is added. */
  const add = (scope: string, name: string, text: string) =>
    asked(async () => {
      await keyValues.put(scope, name, text);
      return keyValues.list(scope);
    }, []);

  const clear = (scope: string, isGone: (ageMs: number, text: string) => boolean = () => true) =>
    asked(async () => {
      const all = await keyValues.list(scope);
      const gone = all.filter(({ ageMs, text }) => isGone(ageMs, text));
      await Promise.all(gone.map(({ name }) => keyValues.remove(scope, name, null)));
    }, undefined);

  /** Whether the address ever gave a good answer, to any worker. */
  async function isTrusted(): Promise<boolean> {
    if (isKnownTrusted) return true;
    const known = await asked(() => keyValues.list(TRUSTED), []);
    isKnownTrusted = known.some(({ name }) => name === tag);
    isTrustKept = isKnownTrusted;
    return isKnownTrusted;
  }

  const claimProbe = () => keyValues.claim(EXCLUSIVE, tag, worker, RULES.workerDeadAfterMs);

  /** Others take over the probe of a dead worker. The result ends it, and then calls `leave`. */
  function keepProbe(leave: () => void): () => Promise<unknown> {
    let heartbeat: Promise<unknown> = Promise.resolve();
    const renew = () => {
      heartbeat = claimProbe().catch(() => undefined);
    };
    const timer = setInterval(renew, RULES.workerHeartbeatMs).unref();
    return async () => {
      clearInterval(timer);
      await heartbeat;
      return asked(() => keyValues.remove(EXCLUSIVE, tag, worker), false).finally(leave);
    };
  }

  return {
    service,
    isTrusted,

    /** It is trusted, and every worker can know it: there is nothing to wait for any more. */
    get isSettled(): boolean {
      return isTrustKept;
    },

    /** Waits for the exclusive probe until trusted; the result ends it. Rejects when stopped. */
    async enter(signal: AbortSignal): Promise<() => Promise<unknown>> {
      if (isKnownTrusted) return NOT_EXCLUSIVE;
      const before = probe;
      let leave: () => void = () => undefined;
      probe = new Promise((resolve) => {
        leave = resolve;
      });
      let isAlone = false;
      try {
        await before;
        for (;;) {
          signal.throwIfAborted();
          if (await isTrusted()) return NOT_EXCLUSIVE;
          isAlone = await asked(claimProbe, false);
          if (isAlone) return keepProbe(leave);
          await clock.sleep(BUSY_RETRY_MS, signal);
        }
      } finally {
        if (!isAlone) leave();
      }
    },

    /** An answer showed the service. Returns the 404s that can be trusted now, to be recorded. */
    async markTrusted(): Promise<NewOutcome[]> {
      isKnownTrusted = true;
      if (isTrustKept) return [];
      isTrustKept = await asked(() => keyValues.put(TRUSTED, tag, service).then(() => true), false);
      if (!isTrustKept) return [];
      const all = await asked(() => keyValues.list(untrusted), []);
      await clear(untrusted);
      return all
        .filter(({ ageMs }) => ageMs <= UNTRUSTED_KEPT_MS)
        .flatMap(({ name, text }) => {
          const { billed, isFailure } = untrustedOf(text) ?? { billed: true, isFailure: true };
          return isFailure ? [] : [{ key: name, status: 'not_found', packed: null, billed, freshMs: null }];
        });
    },

    /**
     * The service gave a good answer: earlier unusable answers no longer count. null: there is
     * nothing to wait for.
     */
    noteGood(): Promise<void> | null {
      const isOwnRow = hasSeenUnusable;
      if (!isOwnRow && clock.monotonic() - clearedAt < CLEAR_EVERY_MS) return null;
      hasSeenUnusable = false;
      clearedAt = clock.monotonic();
      const cleared = clear(unusable);
      // Others' rows may end a moment later; one's own has ended before the next answer is judged.
      return isOwnRow ? cleared : null;
    },

    /** Counts an unusable answer, once per permit: how many there are in a row, of all workers. */
    async noteUnusable(permit: string): Promise<number> {
      hasSeenUnusable = true;
      const row = await add(unusable, permit, worker);
      const recent = row.filter(({ ageMs }) => ageMs <= ROW_MS);
      if (recent.length < row.length) await clear(unusable, (ageMs) => ageMs > ROW_MS);
      return recent.length;
    },

    /** Stores an answer that cannot be trusted yet; returns their number in this run. */
    async noteUntrusted(key: OutcomeKey, answer: Untrusted): Promise<number> {
      const all = await add(untrusted, key, JSON.stringify(answer));
      return all.filter(({ text }) => untrustedOf(text)?.run === answer.run).length;
    },

    /** Forgets what a run that stopped for it was answered, and what killed runs left. */
    forgetUntrusted: (run: string): Promise<void> =>
      clear(untrusted, (ageMs, text) => ageMs > UNTRUSTED_KEPT_MS || (untrustedOf(text)?.run ?? run) === run),
  };
}
