/** The `Ledger` as operations of an engine; the Lua and SQL files beside it judge. */
import { DAY_MS, isMoment } from '../core/clock.js';
import { inOrder, moment, nullOr, type Shape, text, textLike } from '../core/shapes.js';
import { type DayUse, LEDGER_STATE, type Ledger, type PermitAnswer } from '../ledger/ledger.js';
import { packedNew } from './stores/outcome-store.js';
import { nothing, type StoreCalls, type StoreParam, some, unreadable } from './stores/store-calls.js';

function dayUseOf(given: string): DayUse {
  const [day = 0, used = 0] = given.split(':').map(Number);
  const at = day * DAY_MS;
  return { day: new Date(isMoment(at) ? at : 0).toISOString().slice(0, 10), used };
}

/** Reads `DAY:USED DAY:USED`, oldest first. */
const daysShape: Shape<DayUse[]> = (value) => (text(value).match(/\S+/g) ?? []).map(dayUseOf);

/** The wait of a granted permit (`12`, `12 free`), else why there is none. */
const permitText = textLike(/^(?:lost|attempts_exhausted|denied|queued|\d+(?:\.\d+)?(?:e-\d+)?(?: free)?)$/);

function permitAnswer(permit: string, answer: string): PermitAnswer {
  if (answer === 'lost' || answer === 'attempts_exhausted' || answer === 'denied' || answer === 'queued')
    return { permit, answer };
  const [wait, free] = answer.split(' ');
  return { permit, answer: 'granted', waitMs: Number(wait), isFree: free === 'free' };
}

export function createLedger({ call, walk, address }: StoreCalls): Ledger {
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
