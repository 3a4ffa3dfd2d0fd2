/**
 * What becomes of a file of the inbox, from how its run ended or what prevented it. Pure: result or error in, verdict with
 * the words for its owner out.
 */
import {
  BrandEnrichError,
  ERROR_CATALOGUE,
  type ErrorCode,
  errorText,
  InterruptedError,
} from '../../core/errors.js';
import type { EnrichResult } from '../../run/enrich-request.js';
import type { RunHalt } from '../../stores/run-store.js';
import { HOPELESS_REASON } from '../../worker/retry-policy.js';
import { isPassingTrouble } from './file-trouble.js';
import { settingsAdvice } from './inbox-settings-advice.js';
import type { JobEnd } from './job-end.js';
import { reasonText, waitingText } from './reason-text.js';

/** Nothing is taken for so long while the service is away: each file would only find that out for itself. */
const SERVICE_AWAY_MS = 60_000;
const ENGINE_AWAY_MS = 15_000;
const CHANGED_MS = 5_000;
const BUG_TRIES = 2;
const BUG_RETRY_MS = 10_000;

/** Why a parked file is parked; part of its memo. What costs money and is of no use is not tried again by itself. */
export type ParkedWhy = Exclude<RunHalt['why'], 'useless'>;

/** `memo`: what is to be remembered when it is parked. */
export function verdictOfResult(
  result: Pick<EnrichResult, 'end' | 'isComplete'> & {
    readonly facts: Pick<EnrichResult['facts'], 'failures'>;
  },
  memo: (why: ParkedWhy) => string,
): JobEnd {
  const { end, isComplete, facts } = result;
  if (facts.failures.has(HOPELESS_REASON)) return parked('unreachable', HOPELESS_REASON, memo);
  if (isComplete) return { type: 'done' };
  switch (end.type) {
    case 'finished':
    case 'stopped':
      return { type: 'put_back' };
    case 'cancelled':
      return {
        type: 'failed',
        reason: reasonText('Its run was cancelled by a person', 'put it into the inbox again to go on'),
      };
    case 'too_many_failures':
      return {
        type: 'failed',
        reason: reasonText(
          'More lookups failed than are allowed (maxErrors)',
          'see the reasons in the errors file beside this one; put the file into the inbox again to go on',
        ),
      };
    case 'halted':
      if (end.halt.why === 'credentials')
        return { type: 'refused', why: `the service refuses the credentials: ${end.halt.sentence}` };
      if (end.halt.why === 'useless') {
        const todo =
          'have whoever runs the inbox check the address of the service; for a list that it is known not to have say --allow-unknown';
        return { type: 'failed', reason: reasonText(end.halt.sentence, todo, settingsAdvice(todo)) };
      }
      return parked(end.halt.why, end.halt.sentence, memo);
  }
}

function parked(why: ParkedWhy, sentence: string, memo: (why: ParkedWhy) => string): JobEnd {
  return {
    type: 'parked',
    reason: waitingText(sentence),
    memo: memo(why),
    holdMs: why === 'limit' ? 0 : SERVICE_AWAY_MS,
  };
}

/** It has nothing to do with the file. */
const PASSING: readonly ErrorCode[] = [
  'output-unwritable',
  'disk-low',
  'engine-unreachable',
  'engine-unfit',
  'service-unreachable',
];

/** `jobFolder`: cut out of messages, because people know the file by its name. `tries`: failed ones before this. */
export function verdictOfError(error: unknown, jobFolder: string, tries: number): JobEnd {
  if (error instanceof InterruptedError) return { type: 'put_back' };
  if (!(error instanceof BrandEnrichError)) {
    const why = errorText(error);
    if (isPassingTrouble(error)) return { type: 'again', why, inMs: ENGINE_AWAY_MS, holds: true };
    if (tries < BUG_TRIES) return { type: 'again', why, inMs: BUG_RETRY_MS, holds: false };
    const todo = 'show this to whoever runs the inbox; the log says more';
    return { type: 'failed', reason: reasonText(`Something unexpected happened: ${why}`, todo) };
  }
  const { code, todo } = error;
  const what = error.message.slice(0, -`; ${todo}`.length).replaceAll(`${jobFolder}/`, '');
  if (code === 'input-changed') {
    return { type: 'again', why: ERROR_CATALOGUE[code], inMs: CHANGED_MS, holds: false };
  }
  if (PASSING.includes(code)) {
    return { type: 'again', why: error.message, inMs: ENGINE_AWAY_MS, holds: true };
  }
  return { type: 'failed', reason: reasonText(what, todo, settingsAdvice(todo)) };
}
