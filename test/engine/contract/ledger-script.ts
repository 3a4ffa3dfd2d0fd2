/**
 * Histories of a ledger, written as lines of text: `;` or the end of a line ends a step, a comma
 * stands between its parts, and `->` before the answers to the permits that it asks for. Permits
 * have numbers in the order in which they were asked for, granted or not. A month is `2020-02`, no
 * date is `undated`, and the month of a reading without either is January 2020.
 */
import type { ExchangeOperation, Operation } from './ledger-operations.js';

export interface LedgerStep {
  readonly operation: Operation;
  readonly answers: readonly string[];
}
export interface LedgerHistory {
  readonly title: string;
  readonly steps: readonly LedgerStep[];
}
type Words = readonly string[];

export const ask = (some: Partial<ExchangeOperation> = {}): ExchangeOperation => ({
  type: 'exchange',
  account: 0,
  worker: 0,
  run: 0,
  settle: [],
  reading: null,
  isConfirmed: false,
  refusedForQuota: false,
  pace: null,
  take: [],
  isOwn: false,
  look: null,
  repeat: null,
  permitMs: 5_000_000,
  hasTurned: false,
  usageLagMs: 60_000,
  seen: 'nothing',
  ...some,
});

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, h: 3_600_000, d: 86_400_000 };
function msOf(text = ''): number {
  const [, count, unit = ''] = /^(-?\d+)([a-z]+)$/.exec(text) ?? [];
  return Number(count) * (UNITS_MS[unit] ?? Number.NaN);
}
function periodOf(month = '2020-01'): string | null {
  if (month === 'undated') return null;
  return /^\d{4}-\d\d$/.test(month) ? `${month}-01` : month;
}
/** Usage and quota, the month, and how far the service's clock is behind. */
function header([spent = '', month, , behind]: Words): Partial<ExchangeOperation> {
  const [usage = null, quota = null] = spent.split('/').map(Number);
  const clock = behind === undefined ? {} : { behindMs: msOf(behind) };
  return { reading: { quota, usage, period: periodOf(month), ...clock } };
}
const settled = (permit: string | undefined, as: 'billed' | 'free' | 'maybe_billed', more: object = {}) => ({
  settle: [{ permit: Number(permit), as, ...more }],
  ...(as === 'billed' ? { isConfirmed: true } : {}),
});
const answered = ([permit, ...words]: Words, more: object = {}) => ({
  ...settled(permit, 'billed', { period: periodOf(words[1]), ...more }),
  ...header(words),
});

/** What a part of an exchange is, by its first word. */
const PARTS: Readonly<Record<string, (words: Words) => Partial<ExchangeOperation>>> = {
  ask: () => ({}),
  take: (keys) => ({ take: keys.map(Number) }),
  again: ([permit]) => ({ repeat: Number(permit) }),
  look: ([of]) => ({ look: of === 'own' || of === 'other' ? of : Number(of) }),
  header,
  read: (words) => ({ ...header(words), isConfirmed: true }),
  // A billed answer with its usage header and date.
  answer: (words) => answered(words),
  // The same, whose own header shows a usage beyond the quota.
  beyond: (words) => answered(words, { isBeyond: true }),
  billed: ([permit]) => settled(permit, 'billed'),
  free: ([permit]) => settled(permit, 'free'),
  lost: ([permit]) => settled(permit, 'maybe_billed'),
  confirmed: () => ({ isConfirmed: true }),
  unconfirmed: () => ({ isConfirmed: false }),
  refused: () => ({ refusedForQuota: true }),
  turned: () => ({ hasTurned: true }),
  own: () => ({ isOwn: true }),
  seen: ([seen]) => ({ seen: seen === 'ahead' ? 'ahead' : 'last' }),
  deadline: ([after]) => ({ permitMs: msOf(after) }),
  worker: ([worker]) => ({ worker: Number(worker) }),
  run: ([run]) => ({ run: Number(run) }),
  pace: ([rate, burst, floor, unjudged]) => ({
    pace: {
      isJudged: unjudged === undefined,
      rate: rate === 'unlimited' ? null : Number(rate),
      burst: Number(burst),
      floorMs: msOf(floor),
    },
  }),
};

function exchange(parts: readonly Words[]): Operation[] {
  const some = parts
    .filter(([name]) => name !== 'before')
    .map(([name = '', ...words]) => {
      const part = PARTS[name];
      if (part === undefined) throw new Error(`No part of a step begins with "${name}".`);
      return part(words);
    });
  const settle = some.flatMap((part) => part.settle ?? []);
  const asked = ask({ ...Object.assign({}, ...some), settle });
  // More at once than the quarter of what a small quota leaves: before the account shows it.
  const shown = parts.find(([name]) => name === 'before')?.[1];
  if (shown === undefined) return [asked];
  const [usage] = shown.split('/');
  const read = (spent: string) => ask({ ...header([spent, 'undated']), isConfirmed: true });
  return [read(`${usage}/100`), asked, read(shown)];
}

const HEARTBEATS: readonly Operation[] = [
  { type: 'heartbeat', run: 0 },
  { type: 'live', worker: 0 },
];
/** What a step that is no exchange does, by its first word. */
const OTHERS: Readonly<Record<string, (words: Words, parts: readonly Words[]) => readonly Operation[]>> = {
  start: (_, parts) => {
    const given = parts.slice(1).map(([name, value]) => [name, name === 'plan' ? value : Number(value)]);
    const { key = 0, ...some } = Object.fromEntries(given);
    const none = { quotaCap: null, overage: 0, maxRequests: null, maxOverageRequests: null };
    return [
      { type: 'start', account: 0, key, settings: { plan: 'unspecified', ...none, ...some } },
      { type: 'claim', worker: 0, keys: [0, 1, 2, 3, 4, 5] },
    ];
  },
  end: ([run]) => [{ type: 'end', run: Number(run), status: 'completed' }],
  stop: ([run]) => [{ type: 'end', run: Number(run), status: 'stopped' }],
  cancel: ([run]) => [{ type: 'cancel', run: Number(run) }],
  halt: ([run]) => [{ type: 'halt', run: Number(run), isHalted: true }],
  clear: ([run]) => [{ type: 'halt', run: Number(run), isHalted: false }],
  hold: ([run]) => [{ type: 'pause_run', run: Number(run), isPaused: true }],
  continue: ([run]) => [{ type: 'pause_run', run: Number(run), isPaused: false }],
  raise: ([period, sent, others, quota]) => {
    const spent = {
      sent: Number(sent),
      others: Number(others),
      quota: quota === undefined ? null : Number(quota),
    };
    return [{ type: 'raise', account: 0, period: periodOf(period) ?? '', ...spent }];
  },
  beat: ([run]) => [{ type: 'heartbeat', run: Number(run) }],
  claim: ([worker, ...keys]) => [{ type: 'claim', worker: Number(worker), keys: keys.map(Number) }],
  open: () => [{ type: 'open', account: 0, rate: undefined, burst: 1 }],
  // Time passes while the run and its worker keep their heartbeats.
  wait: ([time]) => [{ type: 'advance', ms: msOf(time) }, ...HEARTBEATS],
  advance: ([time]) => [{ type: 'advance', ms: msOf(time) }],
  show: ([run]) => [{ type: 'show', account: 0, ...(run === undefined ? {} : { run: Number(run) }) }],
  pause: () => [{ type: 'pause', paused: true }],
  resume: () => [{ type: 'pause', paused: false }],
  // Key 0 goes from one worker to the other.
  handover: () => [
    { type: 'release', worker: 0, keys: [0] },
    { type: 'claim', worker: 1, keys: [0] },
  ],
};

/** The own domain is proven free: two readings in quiet moments were no higher. Permits 0 to 2. */
const PROVEN = `look own -> granted; answer 0 2/10; wait 64s; wait 64s; look own -> granted
  answer 1 2/10; wait 64s; wait 64s; look own -> granted; answer 2 2/10`;

/** Returns the steps of one history. */
export function stepsOf(text: string): LedgerStep[] {
  const whole = text.replace('; proven', `; ${PROVEN}`);
  const steps = whole.split(/[;\n]/).map((step) => step.trim());
  return steps
    .filter((step) => step !== '' && !step.startsWith('//'))
    .flatMap((step) => {
      const [asked = '', said = ''] = step.split(/ ?-> /);
      const answers = said.split(', ').flatMap((each) => {
        const [, count = '1', answer = ''] = /^(\d+)? ?(\w+)$/.exec(each) ?? [];
        return Array.from({ length: answer === '' ? 0 : Number(count) }, () => answer);
      });
      const parts = asked.split(', ').map((part) => part.split(' '));
      const [name = '', ...words] = parts[0] ?? [];
      const operations = OTHERS[name]?.(words, parts) ?? exchange(parts);
      return operations.map((operation) => {
        if (operation.type !== 'exchange') return { operation, answers: [] };
        const { take, look, repeat } = operation;
        return { operation, answers: take.length > 0 || look !== null || repeat !== null ? answers : [] };
      });
    });
}

/** Returns the histories of a text, each of which begins with a line of `# ` and its title. */
export const historiesOf = (text: string): LedgerHistory[] =>
  text
    .split(/^# /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      return { title, steps: stepsOf(lines.join('\n')) };
    });
