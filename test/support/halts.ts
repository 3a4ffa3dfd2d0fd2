import type { RunHalt, RunStop } from '../../src/engine/stores/run-reasons.js';
import type { ReachedLimit } from '../../src/ledger/policy.js';
import type { LookupsEnd } from '../../src/run/run-end.js';

export const USED_UP: ReachedLimit = { name: 'account', overage: 0 };

export const HALTS: { readonly [Why in RunHalt['why']]: Extract<RunHalt, { why: Why }> } = {
  credentials: { why: 'credentials', reason: 'the token is unknown', status: 403 },
  limit: { why: 'limit', reached: USED_UP },
  throttled: { why: 'throttled', forMs: 360_000 },
  unreachable: { why: 'unreachable', how: 'lasting', reason: 'the host x does not exist' },
  useless: { why: 'useless', useless: { how: 'unproven', service: 'https://api.example' } },
  doubtful: { why: 'doubtful', identifiers: 2 },
  lost: { why: 'lost' },
  unmatched: { why: 'unmatched', matched: 0, answered: 50, columns: ['website'] },
};

/** `reached`: of a halt at a limit; default: the quota is used up. */
export function halted(
  why: RunHalt['why'],
  reached: Extract<RunHalt, { why: 'limit' }>['reached'] = USED_UP,
): LookupsEnd {
  return { type: 'halted', halt: why === 'limit' ? { why, reached } : HALTS[why] };
}

/** A run that stopped with these words of the service. */
export function stoppedBy(reason: string): RunStop {
  return { type: 'halted', halt: { why: 'credentials', reason, status: 401 } };
}
