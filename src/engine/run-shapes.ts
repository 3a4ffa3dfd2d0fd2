/**
 * What an engine must answer for a run to be one of ours: a record of another shape is damaged, and
 * counts as not there.
 */
import { isMoment } from '../core/clock.js';
import { attempt } from '../core/lifecycle.js';
import type { ReachedLimit } from '../ledger/policy.js';
import type {
  FailureReason,
  Overstated,
  RunHalt,
  RunStop,
  Unreached,
  UnusableAnswers,
} from '../stores/run-reasons.js';
import type {
  Cancel,
  Order,
  Pause,
  RunProgress,
  RunRecord,
  RunSettings,
  Tally,
} from '../stores/run-store.js';
import {
  absent,
  type Check,
  either,
  isCount,
  isFlag,
  isNone,
  isNumber,
  isText,
  like,
  listOf,
  oneOf,
  someCount,
} from './shapes.js';

export const isOrder = like<Order>({ by: isText, at: isMoment });

const isSettings = like<RunSettings>({
  service: isText,
  account: isText,
  allowNsfw: oneOf<RunSettings['allowNsfw']>({ unset: true, true: true, false: true }),
  allowUnknown: isFlag,
  maxAgeMs: isCount,
  maxAgeMissingMs: isCount,
  refresh: isFlag,
  plan: oneOf<RunSettings['plan']>({ free: true, paid: true, unspecified: true }),
  quotaCap: someCount,
  overage: isCount,
  maxRate: someCount,
  period: either(oneOf({ month: true, none: true }), isCount),
  freeStatuses: listOf(isText),
  maxRequests: someCount,
  maxOverageRequests: someCount,
  timeoutMs: isCount,
  ownDomain: either(isNone, isText),
  process: either(absent, isText),
});

const isTally = like<Tally>({
  matched: isCount,
  notFound: isCount,
  failed: isCount,
  stored: isCount,
  requests: isCount,
  billed: isCount,
});

const isRecord = like<RunRecord>({
  id: isText,
  key: isText,
  label: isText,
  job: isText,
  owner: isText,
  // As JSON text: an empty list stays a list, an empty object an object.
  settings: isText,
  asOf: isMoment,
  keyStartedAt: isMoment,
  heartbeatAt: isMoment,
  endedAt: either(isNone, isMoment),
  status: oneOf<RunRecord['status']>({ running: true, completed: true, stopped: true, cancelled: true }),
  paused: either(isNone, isOrder),
  cancelled: either(isNone, isOrder),
  // As JSON text.
  stop: either(isNone, isText),
  rows: someCount,
  identifiers: someCount,
  tally: isTally,
  spent: isNumber,
  overageBilled: isNumber,
  hasEarlierFailures: isFlag,
  earlier: either(
    absent,
    like<NonNullable<RunRecord['earlier']>>({
      starts: isCount,
      matched: isCount,
      notFound: isCount,
      billed: isCount,
      unreported: isCount,
      overage: isCount,
    }),
  ),
});

const isProgress = like<RunProgress>({
  chunks: isCount,
  tally: isTally,
  // As JSON text.
  halt: either(isNone, isText),
  isCancelled: isFlag,
  isPaused: isFlag,
  isPausedAlone: isFlag,
});

const isPause = like<Pause>({
  by: isText,
  at: isMoment,
  owner: isText,
  label: isText,
  run: either(isNone, isText),
});

const isCancel = like<Cancel>({ by: isText, at: isMoment, job: isText });

const named = <T>(name: keyof T, word: string, shape: object = {}): Check =>
  like({ [name]: oneOf({ [word]: true }), ...shape } as never);

const isReached = either(
  named<ReachedLimit>('name', 'service'),
  named<ReachedLimit>('name', 'account', { overage: isCount }),
  named<ReachedLimit>('name', 'quota', { quota: isCount, overage: isCount }),
  named<ReachedLimit>('name', 'maxRequests', { maxRequests: isCount }),
  named<ReachedLimit>('name', 'maxCost'),
  named<Overstated>('name', 'overstated', { usage: isCount, quota: isCount }),
);
const isUnusableAnswers = either(
  named<UnusableAnswers>('how', 'unusable', { answers: isCount, reason: isText }),
  named<UnusableAnswers>('how', 'foreign', { service: isText, answer: isText }),
  named<UnusableAnswers>('how', 'unproven', { service: isText }),
);
const isHalt = either(
  named<RunHalt>('why', 'credentials', { reason: isText, status: isCount }),
  named<RunHalt>('why', 'limit', { reached: isReached }),
  named<RunHalt>('why', 'throttled', { forMs: isCount }),
  named<RunHalt>('why', 'unreachable', {
    how: oneOf<Unreached>({ minute: true, lasting: true, unanswered: true }),
    reason: isText,
  }),
  named<RunHalt>('why', 'useless', { useless: isUnusableAnswers }),
  named<RunHalt>('why', 'doubtful', { identifiers: isCount }),
  named<RunHalt>('why', 'lost'),
);
const isStop = either(
  named<RunStop>('type', 'halted', { halt: isHalt }),
  like<{ type: Exclude<RunStop['type'], 'halted'> }>({
    type: oneOf({
      stopped: true,
      cancelled: true,
      paused: true,
      declined: true,
      spending_declined: true,
      too_many_failures: true,
      killed: true,
      closed: true,
      renewed: true,
    }),
  }),
);
const isFailureReason = either(
  named<FailureReason>('code', 'answer', { text: isText }),
  named<FailureReason>('code', 'damaged'),
  named<FailureReason>('code', 'unknown'),
  named<FailureReason>('code', 'unavailable'),
  named<FailureReason>('code', 'lost'),
  named<FailureReason>('code', 'unproven', { text: isText, saysNotFound: isFlag }),
  named<FailureReason>('code', 'foreign', { text: isText }),
);

/** The value of JSON text; undefined: it is not one of these. */
function readAs<T>(text: string, check: Check): T | undefined {
  const value: unknown = attempt(() => JSON.parse(text), undefined);
  return check(value) ? (value as T) : undefined;
}

/** The lookup has failed, whatever became of its reason: it is not bought again. */
export function failureReasonOf(text: string): FailureReason {
  return readAs<FailureReason>(text, isFailureReason) ?? { code: 'unknown' };
}

/** null: it is damaged, or there is none. */
export function runOf(answered: unknown): RunRecord | null {
  if (!isRecord(answered)) return null;
  const record = answered as Answered<RunRecord, 'settings' | 'stop'>;
  const settings = readAs<RunSettings>(record.settings ?? '', isSettings);
  const stop = record.stop === null ? null : readAs<RunStop>(record.stop, isStop);
  return settings === undefined || stop === undefined ? null : { ...record, settings, stop };
}

/** null: it is damaged, or there is none. */
export function progressOf(answered: unknown): RunProgress | null {
  if (!isProgress(answered)) return null;
  const progress = answered as Answered<RunProgress, 'halt'>;
  const halt = progress.halt === null ? null : readAs<RunHalt>(progress.halt, isHalt);
  return halt === undefined ? null : { ...progress, halt };
}

/** With these properties as JSON text. */
type Answered<T, Text extends keyof T> = Omit<T, Text> & { readonly [Name in Text]: string | null };

/** Those that are not damaged. */
export function pausesOf(answered: unknown): Pause[] {
  return Array.isArray(answered) ? answered.filter((each) => isPause(each)) : [];
}

/** Those that are not damaged. */
export function cancelsOf(answered: unknown): Cancel[] {
  return Array.isArray(answered) ? answered.filter((each) => isCancel(each)) : [];
}
