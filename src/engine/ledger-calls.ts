/** The `Ledger` as operations of an engine; the Lua and SQL files beside it judge. */
import { DAY_MS, isMoment } from '../core/clock.js';
import type { DayUse, Ledger, LedgerState, PermitAnswer } from '../ledger/ledger.js';
import { damaged, type StoreCalls, type StoreParam } from './store-calls.js';

interface ExchangeReply {
  /** By position: the wait of a granted permit (`12`, `12 free`), else why there is none. */
  readonly answers: readonly string[] | null;
  /** The same for the look. */
  readonly look: string | null;
  readonly state: StateReply;
}

/** `days`: `DAY:USED` by days since 1970, with blanks between them. */
type StateReply = Omit<LedgerState, 'days'> & { readonly days: string };

function dayUseOf(text: string): DayUse {
  const [day = 0, used = 0] = text.split(':').map(Number);
  const at = day * DAY_MS;
  return { day: new Date(isMoment(at) ? at : 0).toISOString().slice(0, 10), used };
}

/** Reads days of replies; the earlier ones, nearly always the same, once. */
function createDaysReader(): (text: string) => DayUse[] {
  let known = { text: '', days: [] as readonly DayUse[] };
  return (text) => {
    if (text === '') return [];
    const end = Math.max(0, text.lastIndexOf(' '));
    const earlier = text.slice(0, end);
    if (earlier !== known.text)
      known = { text: earlier, days: earlier === '' ? [] : earlier.split(' ').map(dayUseOf) };
    return [...known.days, dayUseOf(text.slice(end).trimStart())];
  };
}

function permitAnswer(permit: string, answer: string): PermitAnswer {
  if (answer === 'lost' || answer === 'attempts_exhausted' || answer === 'denied' || answer === 'queued')
    return { permit, answer };
  const [wait, free] = answer.split(' ');
  return { permit, answer: 'granted', waitMs: Number(wait), isFree: free === 'free' };
}

export function createLedger({ call, walk, address }: StoreCalls): Ledger {
  const daysOf = createDaysReader();
  const stateOf = (reply: StateReply): LedgerState => ({ ...reply, days: daysOf(reply.days) });
  const state = async (operation: string, ...params: StoreParam[]) =>
    stateOf((await call(operation, ...params)) as StateReply);
  return {
    async exchange(request) {
      const { answers, look, state } = (await call('exchange', JSON.stringify(request))) as ExchangeReply;
      const given = <T>(answer: T | null | undefined): T => {
        if (answer == null) throw damaged(address, 'answer');
        return answer;
      };
      return {
        permits: request.take.map(({ permit }, index) => permitAnswer(permit, given(answers?.[index]))),
        look: request.look && permitAnswer(request.look.permit, given(look)),
        state: stateOf(state),
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
      for await (const page of walk('account_names'))
        for (const name of (page ?? []) as string[]) names.add(name);
      return [...names];
    },
    async reset(account) {
      await call('reset_account', account);
    },
    async setPaused(paused) {
      await call('set_paused', paused);
    },
  };
}
