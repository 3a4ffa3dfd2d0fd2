/**
 * The `Ledger` on Redis: each operation is one call of one script. An answer that is lost surfaces as an error; the caller
 * repeats the same request, which is safe because permits are settled and granted once.
 */
import { randomUUID } from 'node:crypto';
import type { ExchangeAnswer, ExchangeRequest, Ledger } from '../../ledger/ledger.js';
import { exchangeArguments, readLedgerState, readPermitAnswer } from './ledger-reply.js';
import { list, texts } from './reply-reader.js';
import { loadScript } from './script.js';
import type { StoreConnection } from './store-connection.js';

/** Keys looked at in one call of a walk: about a millisecond of Redis' time. */
const PAGE_KEYS = 1_000;

const LEDGER = loadScript('ledger.lua');

/** A name for a ledger that comes into being with this call; Lua has no randomness of its own. */
const possibleEpoch = () => randomUUID().slice(0, 13);

export function createRedisLedger(store: StoreConnection): Ledger {
  async function exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
    const reply = list(
      await store.call(LEDGER, 'exchange', exchangeArguments(request, possibleEpoch()), 'on-disk'),
    );
    const answers = texts(reply[0]);
    return {
      permits: request.take.map(({ permit }, index) => readPermitAnswer(permit, answers[index] ?? '')),
      state: readLedgerState(texts(reply[1])),
    };
  }
  return {
    exchange,
    async show(account, run) {
      // An account that is not there has no epoch.
      return readLedgerState(texts(await store.call(LEDGER, 'show', ['', account, run ?? null])));
    },
    async open(account, { rate, burst }) {
      const pace = rate === undefined ? [false] : [true, rate, burst];
      return readLedgerState(
        texts(await store.call(LEDGER, 'open', [possibleEpoch(), account, ...pace], 'on-disk')),
      );
    },
    async observe(account, { usage, quota }) {
      const seen = [usage ?? null, quota ?? null];
      return readLedgerState(
        texts(await store.call(LEDGER, 'observe', [possibleEpoch(), account, ...seen], 'on-disk')),
      );
    },
    async raise(account, { period, sent, others, quota }) {
      const spending = [period, sent, others, quota];
      return readLedgerState(
        texts(await store.call(LEDGER, 'raise', [possibleEpoch(), account, ...spending], 'on-disk')),
      );
    },
    async accounts() {
      const names = new Set<string>();
      let cursor = '0';
      do {
        const [next = '0', ...page] = texts(await store.call(LEDGER, 'accountsPage', [cursor, PAGE_KEYS]));
        for (const name of page) names.add(name);
        cursor = next;
      } while (cursor !== '0');
      return [...names];
    },
    async reset(account) {
      await store.call(LEDGER, 'reset', [account], 'on-disk');
    },
    async setPaused(paused) {
      await store.call(LEDGER, 'pause', [paused], 'on-disk');
    },
  };
}
