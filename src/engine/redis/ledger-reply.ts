/**
 * The ledger's requests as arguments of a script, and its answers from the texts that `ledger.lua` and `take.lua`
 * write. The order here and there is one contract.
 */
import type { ExchangeRequest, LedgerState, PermitAnswer, RunSpending } from '../../ledger/ledger.js';
import type { ReplyReader } from './reply-reader.js';
import { createReplyReader } from './reply-reader.js';
import type { ScriptArgument } from './script.js';

export function exchangeArguments(request: ExchangeRequest, epoch: string): ScriptArgument[] {
  const { seen, reading, pace } = request;
  const list: ScriptArgument[] = [epoch, request.account, request.worker, request.run, seen !== null];
  if (seen) list.push(seen.epoch, seen.version, seen.period, seen.spent, seen.others);
  list.push(request.settle.length);
  for (const { permit, as, period } of request.settle) list.push(permit, as, period ?? null);
  list.push(reading !== null);
  if (reading) list.push(reading.quota, reading.usage, reading.period);
  list.push(request.heard, request.refusedForQuota, pace !== null);
  if (pace) list.push(pace.ifVersion, pace.rate, pace.burst, pace.floorMs);
  list.push(request.permitMs, request.mayHaveTurned, request.usageLagMs, request.take.length);
  for (const wanted of request.take) list.push(wanted.permit, wanted.key);
  return list;
}

/** One answer for each permit asked for, from `g<milliseconds>`, `l`, `s` or `d`. */
export function readPermitAnswer(permit: string, text: string): PermitAnswer {
  switch (text[0]) {
    case 'g':
      return { permit, answer: 'granted', waitMs: Number(text.slice(1)) };
    case 'l':
      return { permit, answer: 'lost' };
    case 's':
      return { permit, answer: 'spent' };
    case 'd':
      return { permit, answer: 'denied' };
    default:
      throw new Error(`not an answer about a permit: ${text}`);
  }
}

const RUN_STATUSES = ['alive', 'halted', 'dead', 'cancelled'] as const;

function readRunSpending(reply: ReplyReader): RunSpending | null {
  if (!reply.hasMore()) return null;
  const status = reply.text();
  return {
    status: RUN_STATUSES.find((known) => known === status) ?? 'dead',
    requests: reply.number(),
    overageRequests: reply.number(),
    overageInFlight: reply.number(),
    overageBilled: reply.number(),
    maxRequests: reply.someNumber(),
    maxOverageRequests: reply.someNumber(),
  };
}

export function readLedgerState(items: readonly string[]): LedgerState {
  const reply = createReplyReader(items);
  return {
    now: reply.number(),
    epoch: reply.text(),
    version: reply.number(),
    period: reply.someText(),
    isDraining: reply.flag(),
    isTurnUnconfirmed: reply.flag(),
    sent: reply.number(),
    held: reply.number(),
    probes: reply.number(),
    others: reply.number(),
    quota: reply.someNumber(),
    usage: reply.someNumber(),
    heardAt: reply.number(),
    closedAt: reply.someNumber(),
    nextProbeAt: reply.number(),
    restsUntil: reply.number(),
    servesOverage: reply.flag(),
    isPaused: reply.flag(),
    quotaCap: reply.someNumber(),
    overage: reply.number(),
    pace: {
      version: reply.number(),
      rate: reply.someNumber(),
      burst: reply.number(),
      floorMs: reply.number(),
      acceptedLastSecond: reply.number(),
      acceptedThisSecond: reply.number(),
    },
    run: readRunSpending(reply),
  };
}
