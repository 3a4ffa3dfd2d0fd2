/**
 * The engine's knowledge about a service besides its answers, for all workers and later runs:
 * whether its address ever gave a good answer, which of its refusals nobody can believe yet, and
 * how many answers in a row were of no use.
 *
 * Until the first good answer, one request goes at a time, whatever the number of workers: an
 * address that is wrong is paid for once, or five times where it answers in JSON, and not for every
 * slot.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { KeyValueStore } from '../stores/key-value-store.js';
import { serviceTag } from '../stores/outcome-key.js';
import type { NewOutcome, OutcomeKey } from '../stores/outcome-store.js';
import { BUSY_RETRY_MS } from './retry-policy.js';

/** By `serviceTag`: addresses that gave a good answer. */
const PROVEN = 'services';
/** By `serviceTag`: the worker whose request goes alone. */
const ALONE = 'services-alone';

/** Older ones belong to an earlier outage. */
const STREAK_MS = 600_000;
/** A 404 that is confirmed later than this is looked up again. */
const UNPROVEN_KEPT_MS = 3_600_000;
/** A good answer of this worker ends a row of useless ones of other workers within this time. */
const CLEAR_EVERY_MS = 1_000;
const ENGINE_RETRY_MS = 1_000;

export interface ServiceStandingOptions {
  readonly keyValues: KeyValueStore;
  readonly service: string;
  readonly worker: string;
  /** Total time-out of one request: a worker that is alone for longer is taken to be dead. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Ends a turn that was not needed. */
export const NO_TURN = async (): Promise<unknown> => undefined;

/** An answer that could not be trusted yet. */
interface Unproven {
  readonly run: string;
  readonly billed: boolean;
  /** It was none of a brand that is not there: it is counted, and nothing comes of it. */
  readonly isFailure?: boolean;
}

export type ServiceStanding = ReturnType<typeof createServiceStanding>;

/** One per process and service. Engine errors are retried or logged, never thrown. */
export function createServiceStanding(options: ServiceStandingOptions) {
  const { keyValues, service, worker, timeoutMs, clock, log } = options;
  const tag = serviceTag(service);
  /** Of this service, by outcome key: answers that cannot be trusted yet. */
  const unproven = `unproven-${tag}`;
  /** Of this service, by permit: answers of no use since the last good one. */
  const useless = `useless-${tag}`;
  let isKnownProven = false;
  let isProofKept = false;
  let hasSeenUseless = false;
  let clearedAt = Number.NEGATIVE_INFINITY;
  /** Resolves when the current turn in this process has ended. */
  let turn: Promise<void> = Promise.resolve();

  /** The engine's answer, or `otherwise` after a moment: nothing is sent without it anyway. */
  async function asked<T>(answer: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      const reason = errorText(error);
      log.warn({ reason }, 'the standing of the service could not be read or written');
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
  async function isProven(): Promise<boolean> {
    if (isKnownProven) return true;
    const known = await asked(() => keyValues.list(PROVEN), []);
    isKnownProven = known.some(({ name }) => name === tag);
    isProofKept = isKnownProven;
    return isKnownProven;
  }

  return {
    service,
    isProven,

    /** Waits for a turn while unproven; the result ends it. Rejects when stopped. */
    async enter(signal: AbortSignal): Promise<() => Promise<unknown>> {
      if (isKnownProven) return NO_TURN;
      const before = turn;
      let leave: () => void = () => undefined;
      turn = new Promise((resolve) => {
        leave = resolve;
      });
      let isAlone = false;
      try {
        await before;
        for (;;) {
          signal.throwIfAborted();
          if (await isProven()) return NO_TURN;
          isAlone = await asked(() => keyValues.claim(ALONE, tag, worker, timeoutMs + 10_000), false);
          if (isAlone) return () => asked(() => keyValues.remove(ALONE, tag, worker), false).finally(leave);
          await clock.sleep(BUSY_RETRY_MS, signal);
        }
      } finally {
        if (!isAlone) leave();
      }
    },

    /** An answer proved the address. Returns the 404s that can be believed now, to be recorded. */
    async prove(): Promise<NewOutcome[]> {
      isKnownProven = true;
      if (isProofKept) return [];
      isProofKept = await asked(() => keyValues.put(PROVEN, tag, service).then(() => true), false);
      if (!isProofKept) return [];
      const all = await asked(() => keyValues.list(unproven), []);
      await clear(unproven);
      return all
        .filter(({ ageMs }) => ageMs <= UNPROVEN_KEPT_MS)
        .flatMap(({ name, text }) => {
          const { billed, isFailure } = JSON.parse(text) as Unproven;
          return isFailure ? [] : [{ key: name, status: 'not_found', packed: null, billed, freshMs: null }];
        });
    },

    /** The service gave a good answer: earlier unusable answers no longer count. */
    async noteGood(): Promise<void> {
      const isOwnRow = hasSeenUseless;
      if (!isOwnRow && clock.monotonic() - clearedAt < CLEAR_EVERY_MS) return;
      hasSeenUseless = false;
      clearedAt = clock.monotonic();
      const cleared = clear(useless);
      // Others' rows may end a moment later; one's own has ended before the next answer is judged.
      if (isOwnRow) await cleared;
    },

    /** Counts a useless answer, once per permit: how many there are in a row, of all workers. */
    async noteUseless(permit: string): Promise<number> {
      hasSeenUseless = true;
      const row = await add(useless, permit, worker);
      const recent = row.filter(({ ageMs }) => ageMs <= STREAK_MS);
      if (recent.length < row.length) await clear(useless, (ageMs) => ageMs > STREAK_MS);
      return recent.length;
    },

    /** Stores an answer that cannot be trusted yet; returns their number in this run. */
    async noteUnproven(key: OutcomeKey, answer: Unproven): Promise<number> {
      const all = await add(unproven, key, JSON.stringify(answer));
      return all.filter(({ text }) => (JSON.parse(text) as Unproven).run === answer.run).length;
    },

    /** Forgets what a run that stopped for it was answered, and what killed runs left. */
    forgetUnproven: (run: string): Promise<void> =>
      clear(
        unproven,
        (ageMs, text) => ageMs > UNPROVEN_KEPT_MS || (JSON.parse(text) as Unproven).run === run,
      ),
  };
}
