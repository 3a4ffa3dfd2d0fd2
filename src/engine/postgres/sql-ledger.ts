/**
 * The `Ledger` over SQL: requests out as JSON, answers in. All judgement is in the functions of `ledger.sql` and the
 * files beside it.
 */
import type {
  ExchangeAnswer,
  ExchangeRequest,
  Ledger,
  LedgerState,
  PermitAnswer,
} from '../../ledger/ledger.js';
import type { StoreCalls } from './database.js';

interface ExchangeReply {
  readonly answers: readonly number[];
  readonly waits: readonly number[];
  readonly state: LedgerState;
}

const REFUSALS = [undefined, 'lost', 'spent', 'denied'] as const;

/** The answers of `exchange` by permit. Throws a plain `Error` on a reply that does not fit the request. */
function permitAnswers(request: Pick<ExchangeRequest, 'take'>, reply: ExchangeReply): PermitAnswer[] {
  return request.take.map(({ permit }, index) => {
    const code = reply.answers[index];
    if (code === 0) return { permit, answer: 'granted', waitMs: reply.waits[index] ?? 0 };
    const refusal = code === undefined ? undefined : REFUSALS[code];
    if (refusal === undefined)
      throw new Error(`exchange gave no answer for permit ${index} of ${request.take.length}`);
    return { permit, answer: refusal };
  });
}

export function createSqlLedger(calls: StoreCalls): Ledger {
  const state = async (name: string, ...params: (string | number | boolean | null)[]) =>
    (await calls.value(name, ...params)) as LedgerState;
  const exchange = async (request: ExchangeRequest): Promise<ExchangeAnswer> => {
    const reply = (await calls.value('exchange', JSON.stringify(request))) as ExchangeReply;
    return { permits: permitAnswers(request, reply), state: reply.state };
  };
  return {
    exchange,
    show: (account, run) => state('show_account', account, run ?? null),
    open: (account, pace) =>
      state('open_account', account, pace.rate !== undefined, pace.rate ?? null, pace.burst),
    observe: (account, seen) => state('observe_account', account, seen.usage ?? null, seen.quota ?? null),
    raise: (account, { period, sent, others, quota }) =>
      state('raise_account', account, period, sent, others, quota),
    accounts: async () => (await calls.value('account_names')) as string[],
    async reset(account) {
      await calls.value('reset_account', account);
    },
    async setPaused(paused) {
      await calls.value('set_paused', paused);
    },
  };
}
