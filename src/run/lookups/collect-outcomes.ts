/**
 * Brings outcomes from the store into the run's answers: rendered once per identifier, in the order of their numbers,
 * so that memory holds one batch at a time.
 */

import { parseIdentifierText } from '../../core/identifier.js';
import type { AnswerSource, Freshness, OutcomeStatus } from '../../core/outcome.js';
import type { Engine } from '../../engine/engine.js';
import { type Brand, qualityScoreOf } from '../../lookup/brand.js';
import { COME_BACK_REASON } from '../../stores/outcome-store.js';
import { unpackProfile } from '../../stores/profile-codec.js';
import type { FetchedAnswer } from '../../worker/worker-listener.js';
import { rankOf } from '../output/join-rows.js';
import type { AnswerView, Renderer } from '../output/output-plan.js';
import type { RunSummary } from '../report/run-summary.js';
import type { IdentifierSpool } from '../scan/identifier-spool.js';
import type { Answers } from './answers.js';

export interface CollectContext {
  readonly engine: Engine;
  readonly identifiers: IdentifierSpool;
  readonly answers: Answers;
  readonly renderer: Renderer;
  readonly keyPrefix: string;
  readonly freshness: Freshness;
  readonly summary: RunSummary;
  /** Why identifiers of this run failed or were deferred, by their number: for the errors file. */
  readonly reasons: Map<number, string>;
}

const READ_AT_ONCE = 500;

/** Wanted identifiers without an answer, in order, in batches. */
export function* unanswered(
  context: Pick<CollectContext, 'identifiers' | 'answers'>,
  size: number,
): Generator<{ readonly index: number; readonly text: string }[]> {
  let batch: { index: number; text: string }[] = [];
  for (const { first, texts } of context.identifiers.batches()) {
    for (const [offset, text] of texts.entries()) {
      const index = first + offset;
      if (!context.answers.isWanted(index) || context.answers.status(index) !== null) continue;
      batch.push({ index, text });
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Takes what the store has for wanted identifiers without an answer. How many are still without. */
export async function collectStored(
  context: CollectContext,
  source: AnswerSource,
  stop?: AbortSignal,
): Promise<number> {
  let missing = 0;
  for (const batch of unanswered(context, READ_AT_ONCE)) {
    stop?.throwIfAborted();
    const outcomes = await context.engine.outcomes.read(
      batch.map(({ text }) => context.keyPrefix + text),
      context.freshness,
    );
    for (const [at, { index, text }] of batch.entries()) {
      const outcome = outcomes[at];
      if (outcome) {
        const profile = outcome.packed === null ? null : unpackProfile(outcome.packed).toString('utf8');
        const brand = profile === null ? {} : (JSON.parse(profile) as Brand);
        const comeBack = outcome.status === 'not_found' && outcome.freshUntil !== null;
        keepAnswer(context, index, text, { ...outcome, comeBack, profile, brand }, source);
      } else missing += 1;
    }
  }
  return missing;
}

/** Takes the lookups that failed in this run. How many identifiers are still without an answer. */
export async function collectFailed(context: CollectContext, runId: string): Promise<number> {
  let missing = 0;
  for (const batch of unanswered(context, READ_AT_ONCE)) {
    const failures = await context.engine.runs.failures(
      runId,
      batch.map(({ text }) => context.keyPrefix + text),
    );
    for (const [at, { index, text }] of batch.entries()) {
      const failure = failures[at];
      const status = failure?.isDeferred === true ? 'deferred' : 'failed';
      if (failure) settleUnanswered(context, index, text, status, failure.reason);
      else missing += 1;
    }
  }
  return missing;
}

/** Whatever is still without an answer was not asked, or not to the end: `reason`. */
export function deferRest(context: CollectContext, reason: string): void {
  for (const batch of unanswered(context, READ_AT_ONCE)) {
    for (const { index, text } of batch) settleUnanswered(context, index, text, 'deferred', reason);
  }
}

function settleUnanswered(
  context: CollectContext,
  index: number,
  text: string,
  status: 'failed' | 'deferred',
  error: string,
): void {
  if (context.answers.status(index) !== null) return;
  context.reasons.set(index, error);
  context.summary.noteFailure(status, error);
  set(context, index, status, null, {
    status,
    identifier: parseIdentifierText(text),
    profile: null,
    source: null,
    fetchedAt: null,
    error,
  });
}

/** An answer as the store has it, unpacked. */
interface CollectedAnswer {
  readonly status: 'matched' | 'not_found';
  /** The brand is being fetched: to be asked for once more soon. */
  readonly comeBack: boolean;
  /** The service's JSON text, and parsed: null and empty for `not_found`. */
  readonly profile: string | null;
  readonly brand: Brand;
  readonly fetchedAt: number;
}

/** Renders and counts an answer, once: a second one for the same identifier changes nothing. */
function keepAnswer(
  context: CollectContext,
  index: number,
  text: string,
  { status, comeBack, profile, brand, fetchedAt }: CollectedAnswer,
  source: AnswerSource,
): void {
  if (context.answers.status(index) !== null) return;
  const score = status === 'matched' ? qualityScoreOf(brand) : null;
  const identifier = parseIdentifierText(text);
  const error = comeBack ? COME_BACK_REASON : null;
  set(context, index, status, score, { status, identifier, profile, brand, source, fetchedAt, error });
  context.summary.noteAnswer({ status, comeBack, index, identifier: text, score, fetchedAt, source, brand });
}

function set(
  context: CollectContext,
  index: number,
  status: OutcomeStatus,
  score: number | null,
  view: AnswerView,
): void {
  context.answers.set(index, status, rankOf(status, score), context.renderer.answer(view));
}

/**
 * Answers that the worker of this process fetched for this run, taken as they come: what is in memory need not be read back, unpacked
 * and parsed again. Whatever is missed here is read from the store, which is the truth.
 */
export interface LiveCollector {
  /** The identifiers of a chunk that is about to be queued. */
  expect(batch: readonly { readonly index: number; readonly text: string }[]): void;
  /** Never throws. */
  onAnswer(answer: FetchedAnswer): void;
  /** Takes nothing more. */
  close(): void;
}

/** Twice what is queued at once. With workers elsewhere most never come this way: the oldest are forgotten. */
const EXPECTED_AT_MOST = 20_000;

export function createLiveCollector(collect: CollectContext): LiveCollector {
  const expected = new Map<string, { readonly index: number; readonly text: string }>();
  return {
    expect(batch) {
      for (const each of batch) expected.set(collect.keyPrefix + each.text, each);
      for (const key of expected.keys()) {
        if (expected.size <= EXPECTED_AT_MOST) return;
        expected.delete(key);
      }
    },
    onAnswer({ key, status, comeBack, profile, fetchedAt }) {
      const wanted = expected.get(key);
      if (wanted === undefined) return;
      expected.delete(key);
      const brand = profile?.brand ?? {};
      const text = profile === null ? null : profile.body.toString('utf8');
      try {
        const answer = { status, comeBack, profile: text, brand, fetchedAt };
        keepAnswer(collect, wanted.index, wanted.text, answer, 'api');
      } catch {
        // A full disk: the run meets it where it takes from the store what is missing here.
      }
    },
    close() {
      expected.clear();
    },
  };
}
