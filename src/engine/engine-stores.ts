/** The stores of an engine, whose methods call functions in Lua or SQL, and the engine's id. */
import { createHash, randomBytes } from 'node:crypto';
import { DAY_MS, isMoment } from '../core/clock.js';
import { inOrder, moment, nullOr, type Shape, text, textLike } from '../core/shapes.js';
import { type DayUse, LEDGER_STATE, type Ledger, type PermitAnswer } from '../ledger/ledger.js';
import { createRuns } from './run-calls.js';
import { createKeyValues, type KeyValueStore } from './stores/key-value-store.js';
import { createOutcomes, packedNew } from './stores/outcome-store.js';
import { nothing, type StoreCalls, type StoreParam, some, unreadable } from './stores/store-calls.js';

export function createStores(calls: StoreCalls) {
  return {
    ledger: createLedger(calls),
    outcomes: createOutcomes(calls),
    runs: createRuns(calls),
    keyValues: createKeyValues(calls),
    roundTrips: calls.roundTrips,
  };
}

const ENGINE_ID = { scope: 'engine', name: 'id' } as const;

/**
 * Returns the engine's random id, by which folders of different engines are told apart. The first
 * caller creates the id; with `isReadOnly`, returns an empty text instead.
 */
export async function engineId(keyValues: KeyValueStore, isReadOnly = false): Promise<string> {
  const known = await readEngineId(keyValues);
  if (known !== null || isReadOnly) return known ?? '';
  await keyValues.claim(ENGINE_ID.scope, ENGINE_ID.name, randomBytes(8).toString('hex'), null);
  const id = await readEngineId(keyValues);
  if (id !== null) return id;
  throw unreadable('its id');
}

/** Returns the engine's id; null before the first use of the engine. */
export async function readEngineId(keyValues: Pick<KeyValueStore, 'list'>): Promise<string | null> {
  const entry = (await keyValues.list(ENGINE_ID.scope)).find(({ name }) => name === ENGINE_ID.name);
  if (entry === undefined || /^[0-9a-f]{16}$/.test(entry.text)) return entry?.text ?? null;
  // Folders are named by the id: another program that writes one must not choose their path.
  return createHash('sha256').update(entry.text).digest('hex').slice(0, 16);
}

function dayUseOf(given: string): DayUse {
  const [day = 0, used = 0] = given.split(':').map(Number);
  const at = day * DAY_MS;
  return { day: new Date(isMoment(at) ? at : 0).toISOString().slice(0, 10), used };
}

/** `DAY:USED DAY:USED`, oldest first; days since 1970. */
const daysShape: Shape<DayUse[]> = (value) => (text(value).match(/\S+/g) ?? []).map(dayUseOf);

/** The wait of a granted permit in milliseconds (`12`, `12 free`), else why it was refused. */
const permitText = textLike(/^(?:lost|attempts_exhausted|denied|queued|\d+(?:\.\d+)?(?:e-\d+)?(?: free)?)$/);

function permitAnswer(permit: string, answer: string): PermitAnswer {
  if (answer === 'lost' || answer === 'attempts_exhausted' || answer === 'denied' || answer === 'queued')
    return { permit, answer };
  const [wait, free] = answer.split(' ');
  return { permit, answer: 'granted', waitMs: Number(wait), isFree: free === 'free' };
}

function createLedger({ call, walk, address }: StoreCalls): Ledger {
  const stateShape = inOrder({ ...LEDGER_STATE, days: daysShape });
  const exchangeShape = inOrder({
    answers: some(permitText),
    look: nullOr(permitText),
    recordedAt: nullOr(moment),
    state: stateShape,
  });
  const state = (operation: string, ...params: StoreParam[]) => call(stateShape, operation, ...params);
  return {
    async exchange(request, outcomes = []) {
      const packed = outcomes.length === 0 ? ([null, null] as const) : packedNew(outcomes);
      const given = [JSON.stringify(request), ...packed] as const;
      const { answers, look, recordedAt, state } = await call(exchangeShape, 'exchange', ...given);
      const answered = (permit: string, answer: string | null | undefined): PermitAnswer => {
        if (answer == null) throw unreadable(address);
        return permitAnswer(permit, answer);
      };
      if (outcomes.length > 0 && recordedAt === null) throw unreadable(address);
      return {
        permits: request.take.map(({ permit }, index) => answered(permit, answers[index])),
        look: request.look && answered(request.look.permit, look),
        recordedAt,
        state,
      };
    },
    show: (account, run) => state('show_account', account, run ?? null),
    open: (account, { rate, burst }) =>
      state('open_account', account, rate !== undefined, rate ?? null, burst),
    observe: (account, { usage, quota }) => state('observe_account', account, usage ?? null, quota ?? null),
    raise: (account, { period, sent, others, quota }) =>
      state('raise_account', account, period, sent, others, quota),
    async accounts() {
      const names = new Set<string>();
      for await (const page of walk(some(text), 'account_names')) for (const name of page) names.add(name);
      return [...names];
    },
    reset: (account) => call(nothing, 'reset_account', account),
  };
}
