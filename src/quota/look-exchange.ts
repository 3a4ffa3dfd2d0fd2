/**
 * The exchange that takes, settles and says nothing: how a ledger shows an account as one run sees it.
 */
import type { ExchangeRequest } from './ledger.js';

export function lookExchange(account: string, run: string): ExchangeRequest {
  return {
    account,
    worker: run,
    run,
    seen: null,
    settle: [],
    reading: null,
    heard: false,
    refusedForQuota: false,
    pace: null,
    take: [],
    permitMs: 0,
    mayHaveTurned: false,
    usageLagMs: 0,
  };
}
