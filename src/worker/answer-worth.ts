/** The worth of an answer: is it from the service, and what does it show of the account? */
import type { Observation } from '../ledger/outbox.js';
import { periodOf } from '../ledger/period.js';
import type { Answer, AnswerSign } from '../lookup/read-answer.js';
import type { NewOutcome } from '../stores/outcome-store.js';
import type { RunRecord } from '../stores/run-store.js';
import type { ServiceStanding } from './service-standing.js';

/**
 * What a "not found", or a refusal of what was asked for, is worth.
 *
 *   own        the service said it: the address is right
 *   believed   from an address that is right, or that the user says is right
 *   unproven   perhaps the service
 *   foreign    something else
 */
export type AnswerWorth = 'own' | 'believed' | 'unproven' | 'foreign';

/** `allowsUnknown`: the user says that the address is right. */
export function worthOfSign(
  sign: AnswerSign,
  { isProven, allowsUnknown }: { readonly isProven: boolean; readonly allowsUnknown: boolean },
): AnswerWorth {
  if (sign === 'own') return 'own';
  if (isProven) return 'believed';
  if (sign === 'none') return 'foreign';
  return allowsUnknown ? 'believed' : 'unproven';
}

/** Whether only the service answers so: a brand, a refusal with its sign, or a usage header. */
function showsService({ meaning, quota, usage }: Answer): boolean {
  if (quota !== null || usage !== null || meaning.type === 'matched') return true;
  return (meaning.type === 'not_found' || meaning.type === 'failed') && meaning.sign === 'own';
}

/** null: nothing about what was asked, or lost. A brand is worth as much as an own "not found". */
async function worthOf(
  { meaning }: Answer,
  allowsUnknown: boolean,
  standing: ServiceStanding,
): Promise<AnswerWorth | null> {
  if (meaning.type === 'matched') return 'own';
  if (!('sign' in meaning) || meaning.sign === undefined) return null;
  const isProven = meaning.sign !== 'own' && (await standing.isProven());
  const worth = worthOfSign(meaning.sign, { isProven, allowsUnknown });
  // An unusable answer is retried once, and proves nothing.
  return meaning.type === 'wasted' && worth !== 'foreign' ? null : worth;
}

/**
 * What an answer is worth and says of the account. One that proves the address also has the answers
 * recorded that can now be believed.
 */
export async function weigh(
  answer: Answer,
  { settings }: Pick<RunRecord, 'settings'>,
  standing: ServiceStanding,
  recorder: { record(believed: NewOutcome): Promise<unknown> },
) {
  if (showsService(answer)) {
    for (const believed of await standing.prove()) await recorder.record(believed);
  }
  const worth = await worthOf(answer, settings.allowUnknown ?? false, standing);
  return { worth, observation: observe(answer, settings.period, worth) };
}

/**
 * Only useful answers set `heard`: until then, requests go one at a time. `worth`: of a brand, a
 * "not found" or a refusal of what was asked for, else null.
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
