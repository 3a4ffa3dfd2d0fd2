/**
 * What an answer says of the account, for the governor.
 */

import type { Observation } from '../ledger/outbox.js';
import { periodOf } from '../ledger/period.js';
import type { Answer } from '../lookup/read-answer.js';
import type { RunRecord } from '../stores/run-store.js';
import type { AnswerWorth } from './service-standing.js';

/**
 * Useful answers alone count as heard: while there is none, requests go one at a time. `worth`: of a brand, a "not found"
 * or a refusal of what was asked for, else null.
 */
export function observe(
  answer: Answer,
  period: RunRecord['settings']['period'],
  worth: AnswerWorth | null,
): Observation {
  const { quota, usage, meaning } = answer;
  const datedIn = answer.date === null ? null : periodOf(answer.date, period);
  return {
    reading: quota === null && usage === null ? null : { quota, usage, period: datedIn },
    period: datedIn,
    heard:
      (worth === 'own' || worth === 'believed') &&
      !(meaning.type === 'failed' && meaning.isNoBrand !== undefined),
  };
}
