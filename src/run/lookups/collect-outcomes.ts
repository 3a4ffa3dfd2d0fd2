/** Collects the outcomes of a run: renders each answer once, with one batch in memory. */
import { qualityScoreOf } from '../../brand-api/brand.js';
import { parseIdentifierText } from '../../core/identifier.js';
import type { AnswerSource, Freshness, StoredOutcome } from '../../core/outcome.js';
import { CHUNK_SIZE } from '../../engine/chunk-queue.js';
import type { Engine } from '../../engine/engine.js';
import type { OutcomeKeyOf } from '../../engine/stores/outcome-key.js';
import { RETRY_LATER_REASON } from '../../engine/stores/outcome-store.js';
import { readProfile, whyUnreadable } from '../../engine/stores/profile-codec.js';
import type { FailureReason, RunStop } from '../../engine/stores/run-reasons.js';
import type { LookupFailure } from '../../engine/stores/run-store.js';
import type { FetchedAnswer } from '../../worker/asked.js';
import type { Changes } from '../output/changes.js';
import { type AnswerView, NOTHING_ASKED, type Renderer } from '../output/output-plan.js';
import { createRunSummary } from '../report/run-summary.js';
import type { Scan } from '../scan/scan.js';
import { sayDeferred, sayFailure } from '../words/say-reason.js';
import { WINDOW_AT_MOST } from './dispatch-chunks.js';

/** A wanted identifier without an answer. */
export interface Unanswered {
  readonly index: number;
  readonly text: string;
}

export interface CollectorOptions {
  readonly engine: Pick<Engine, 'outcomes' | 'runs'>;
  readonly scan: Pick<Scan, 'identifiers' | 'answers' | 'priorities'>;
  readonly renderer: Renderer;
  readonly keyOf: OutcomeKeyOf;
  readonly freshness: Freshness;
  /** Gets each brand; null or absent without `--changes`. */
  readonly changes?: Pick<Changes, 'note'> | null;
  readonly emit: (found: { type: 'matched'; identifier: string }) => void;
}

/** Identifiers whose outcomes are read in one call. */
export const READ_AT_ONCE = 500;
/** The same during lookups: 10 ms of rendering, on an event loop that may also run a worker. */
const READ_AT_ONCE_SO_FAR = 100;
const SO_FAR_AT_MOST = 2_000;
/** Twice the longest queue; answers beyond it, as after lost chunks, come from the store. */
const EXPECTED_AT_MOST = 2 * WINDOW_AT_MOST * CHUNK_SIZE;

const NOT_FOUND = { status: 'not_found', packed: null, freshMs: null } as const;
const NOT_FOUND_ANSWER = { status: 'not_found', retryLater: false, profile: null } as const;

export class OutcomeCollector {
  readonly summary = createRunSummary();
  /** Why identifiers failed, were deferred or were not found for now, by their number. */
  readonly reasons = new Map<number, string>();
  readonly #expected = new Map<string, Unanswered>();
  /** By number: a "not found" that came before any answer proved the address to be the service. */
  readonly #unproven = new Map<number, LookupFailure>();
  #answered = 0;
  #hasFound = false;

  constructor(private readonly options: CollectorOptions) {}

  /** Takes stored answers of unanswered identifiers, or of `only`; returns how many are missing. */
  takeStored(source: AnswerSource, stop?: AbortSignal, only?: readonly number[]): Promise<number> {
    return this.#takeFromStore(unansweredIn(this.options.scan, READ_AT_ONCE, only), source, stop);
  }

  #takeFromStore(batches: Iterable<Unanswered[]>, source: AnswerSource, stop?: AbortSignal): Promise<number> {
    const { outcomes } = this.options.engine;
    return this.#takeAll(
      batches,
      (keys) => {
        stop?.throwIfAborted();
        return outcomes.read(keys, this.options.freshness);
      },
      (unanswered, stored) => {
        const read = readStored(stored);
        if ('code' in read) this.#keepFailure(unanswered, read);
        else this.#keepAnswer(unanswered, read, source);
      },
    );
  }

  /** Takes failures of this run in the same way. */
  takeFailed(runId: string, only?: readonly number[]): Promise<number> {
    const { runs } = this.options.engine;
    return this.#takeAll(
      unansweredIn(this.options.scan, READ_AT_ONCE, only),
      (keys) => runs.failures(runId, keys),
      (unanswered, failure) => {
        const { isDeferred, reason } = failure;
        if (isDeferred === true) this.#keepDeferred(unanswered, sayFailure(reason));
        else if (reason.code === 'unproven' && reason.saysNotFound)
          this.#unproven.set(unanswered.index, failure);
        else this.#keepFailure(unanswered, reason);
      },
    );
  }

  /** True if the identifier waits for `takeUnproven`: its lookup is paid and not repeated. */
  isUnproven(index: number): boolean {
    return this.#unproven.has(index);
  }

  /** Records each unproven "not found" if another answer proves the service; else it has failed. */
  async takeUnproven(): Promise<void> {
    const { engine, scan } = this.options;
    const { matched, notFound } = this.summary.facts.identifiers;
    const left = [...this.#unproven].filter(([index]) => scan.answers.status(index) === null);
    const isProven = matched + notFound > 0;
    const outcomes = left.map(([, { key, billed }]) => ({ ...NOT_FOUND, key, billed }));
    const fetchedAt = isProven ? await engine.outcomes.record(outcomes) : 0;
    for (const [index, { reason }] of left) {
      const unanswered = { index, text: scan.identifiers.at(index) };
      if (isProven) this.#keepAnswer(unanswered, { ...NOT_FOUND_ANSWER, fetchedAt }, 'api');
      else this.#keepFailure(unanswered, reason);
    }
    this.#unproven.clear();
  }

  /** Defers every identifier that still has no answer. */
  deferRest(stop: RunStop): void {
    const words = sayDeferred(stop, 'cell');
    for (const batch of unansweredIn(this.options.scan, READ_AT_ONCE))
      for (const unanswered of batch) this.#keepDeferred(unanswered, words);
  }

  /** Notes identifiers before they are queued: their answers may come through `onAnswer`. */
  expect(batch: readonly Unanswered[]): void {
    if (this.#expected.size >= EXPECTED_AT_MOST) return;
    for (const each of batch) this.#expected.set(this.options.keyOf(each.text), each);
  }

  /** Takes up to 2,000 answers of other workers. `answered`: by the tally, stored included. */
  async takeStoredSoFar(answered: number): Promise<void> {
    const { matched, notFound } = this.summary.facts.identifiers;
    const isNew = answered > this.#answered;
    this.#answered = answered;
    // A tally may count more than the store has, such as failures.
    if (!isNew && !this.#hasFound) return;
    const batches = this.#inTurn(Math.min(answered - matched - notFound, SO_FAR_AT_MOST));
    const before = this.options.scan.answers.answered;
    await this.#takeFromStore(batches, 'api');
    this.#hasFound = this.options.scan.answers.answered > before;
  }

  /** Yields expected identifiers and moves each to the end, since its answer may come later. */
  *#inTurn(count: number): Generator<Unanswered[]> {
    for (let left = Math.min(count, this.#expected.size); left > 0; left -= READ_AT_ONCE_SO_FAR) {
      const batch: Unanswered[] = [];
      // Answers of our own worker may have emptied the map meanwhile.
      const size = Math.min(left, READ_AT_ONCE_SO_FAR, this.#expected.size);
      if (size === 0) return;
      for (const [key, unanswered] of this.#expected) {
        if (batch.length === size) break;
        batch.push(unanswered);
        this.#expected.delete(key);
        this.#expected.set(key, unanswered);
      }
      yield batch;
    }
  }

  /** Takes an answer of our own worker; the store supplies what is missed here. Never throws. */
  onAnswer({ key, ...answer }: FetchedAnswer): void {
    const unanswered = this.#expected.get(key);
    if (unanswered === undefined) return;
    this.#expected.delete(key);
    try {
      this.#keepAnswer(unanswered, answer, 'api');
    } catch {
      // The disk is full: the run will throw when it takes this answer from the store.
    }
  }

  close(): void {
    this.#expected.clear();
  }

  async #takeAll<T>(
    batches: Iterable<Unanswered[]>,
    read: (keys: readonly string[]) => Promise<readonly (T | null)[]>,
    keep: (unanswered: Unanswered, outcome: T) => void,
  ): Promise<number> {
    let missing = 0;
    for (const batch of batches) {
      const outcomes = await read(batch.map(({ text }) => this.options.keyOf(text)));
      for (const [at, unanswered] of batch.entries()) {
        const outcome = outcomes[at] ?? null;
        if (outcome === null) missing += 1;
        else {
          this.#expected.delete(this.options.keyOf(unanswered.text));
          keep(unanswered, outcome);
        }
      }
    }
    return missing;
  }

  /** Renders and counts an answer; a second one for the same identifier changes nothing. */
  #keepAnswer({ index, text }: Unanswered, answer: Omit<FetchedAnswer, 'key'>, source: AnswerSource): void {
    const { scan } = this.options;
    if (scan.answers.status(index) !== null) return;
    const { status, retryLater, fetchedAt } = answer;
    const { text: profile = null, brand = {} } = answer.profile ?? {};
    const score = status === 'matched' ? qualityScoreOf(brand) : null;
    const error = retryLater ? RETRY_LATER_REASON : null;
    if (error !== null) this.reasons.set(index, error);
    const identifier = parseIdentifierText(text);
    this.#render(index, { status, identifier, source, fetchedAt, error, profile, brand }, score);
    const facts = { status, retryLater, index, identifier: text, score, fetchedAt, source, brand };
    this.summary.noteAnswer(facts);
    if (status !== 'matched') return;
    this.options.changes?.note(index, text, brand);
    this.options.emit({ type: 'matched', identifier: text });
  }

  #keepFailure(unanswered: Unanswered, reason: FailureReason): void {
    if (this.#keepReason(unanswered, 'failed', sayFailure(reason))) this.summary.noteFailure(reason);
  }

  #keepDeferred(unanswered: Unanswered, words: string): void {
    if (this.#keepReason(unanswered, 'deferred', words)) this.summary.noteDeferred();
  }

  /** Returns false if the identifier already has a status. */
  #keepReason({ index, text }: Unanswered, status: 'failed' | 'deferred', error: string): boolean {
    if (this.options.scan.answers.status(index) !== null) return false;
    this.reasons.set(index, error);
    const identifier = parseIdentifierText(text);
    this.#render(index, { ...NOTHING_ASKED, identifier, status, error }, null);
    return true;
  }

  #render(index: number, view: AnswerView, score: number | null): void {
    const { scan, renderer } = this.options;
    scan.answers.set(index, view.status, score, renderer.answer(view));
  }
}

/** Yields unanswered identifiers in batches, by file, by priority, or only these numbers. */
export function* unansweredIn(
  { identifiers, answers, priorities }: CollectorOptions['scan'],
  size: number | (() => number),
  order: 'file' | 'priority' | readonly number[] = 'file',
): Generator<Unanswered[]> {
  const isUnanswered = (index: number) => answers.isWanted(index) && answers.status(index) === null;
  const numbers = order === 'priority' ? priorities?.order(identifiers.count) : order;
  function* all(): Generator<Unanswered> {
    if (numbers !== undefined && numbers !== 'file') {
      for (const index of numbers) if (isUnanswered(index)) yield { index, text: identifiers.at(index) };
      return;
    }
    for (const { first, texts } of identifiers.batches())
      for (const [offset, text] of texts.entries())
        if (isUnanswered(first + offset)) yield { index: first + offset, text };
  }
  let batch: Unanswered[] = [];
  for (const unanswered of all()) {
    batch.push(unanswered);
    if (batch.length < (typeof size === 'number' ? size : size())) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns a stored answer as a worker would report it, or why it cannot be read. */
export function readStored({ status, packed, fetchedAt, freshUntil }: StoredOutcome) {
  const profile = packed && readProfile(packed);
  if (packed !== null && profile === null) return whyUnreadable(packed);
  return { status, retryLater: status === 'not_found' && freshUntil !== null, profile, fetchedAt };
}
