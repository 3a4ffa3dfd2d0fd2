/** The `Ledger` as operations of an engine; the Lua and SQL files beside it judge. */
import type { DayUse, Ledger, LedgerState, PermitAnswer } from '../ledger/ledger.js';
import type { StoreCalls, StoreParam } from './store-calls.js';

interface ExchangeReply {
  /** By position: the wait of a granted permit in milliseconds, else why there is none. */
  readonly answers: readonly string[];
  readonly state: StateReply;
}

/** `days`: `DAY:USED` by days since 1970, with blanks between them. */
type StateReply = Omit<LedgerState, 'days'> & { readonly days: string };

const DAY_MS = 86_400_000;

function dayUseOf(text: string): DayUse {
  const [day = 0, used = 0] = text.split(':').map(Number);
  return { day: new Date(day * DAY_MS).toISOString().slice(0, 10), used };
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

function permitAnswer(permit: string, answer: string | undefined): PermitAnswer {
  if (answer === 'lost' || answer === 'spent' || answer === 'denied') return { permit, answer };
  const waitMs = Number(answer);
  if (Number.isNaN(waitMs)) throw new Error(`exchange gave no answer for the permit ${permit}: ${answer}`);
  return { permit, answer: 'granted', waitMs };
}

export function createLedger({ call, walk }: StoreCalls): Ledger {
  const daysOf = createDaysReader();
  const stateOf = (reply: StateReply): LedgerState => ({ ...reply, days: daysOf(reply.days) });
  const state = async (operation: string, ...params: StoreParam[]) =>
    stateOf((await call(operation, ...params)) as StateReply);
  return {
    async exchange(request) {
      const { answers, state } = (await call('exchange', JSON.stringify(request))) as ExchangeReply;
      return {
        permits: request.take.map(({ permit }, index) => permitAnswer(permit, answers[index])),
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
