/** Holds a run with too few matches in its first answers, until a person decides. */
import { inJson, orElse } from '../../core/shapes.js';
import type { KeyValueStore } from '../../engine/stores/key-value-store.js';
import { type RunHalt, runHaltShape } from '../../engine/stores/run-reasons.js';
import type { RunRecord } from '../../engine/stores/run-store.js';
import type { ActiveRun } from '../enrich-request.js';
import { sayHalt } from '../words/say-reason.js';

/** How many answers are judged, and how many if the last file of the series matched. */
export const FIRST_ANSWERS = 50;
const FIRST_OF_SERIES = 200;

/** Entries are named by keys of held runs and by series. */
const SCOPE = 'min-match';
/** A person continued a held run; forgotten when a run of its key completes. */
const LIFTED = 'lifted';
const MATCHED = 'matched';
const heldShape = orElse(inJson(runHaltShape), null);

interface Counts {
  readonly matched: number;
  readonly answered: number;
}

/** Judges the `first` answers. `minMatch`: percent; null for at least one match. Pure. */
export function judgeMatches(
  { matched, answered }: Counts,
  minMatch: number | null,
  first: number,
): 'enough' | 'open' | 'too few' {
  const isEnough = minMatch === null ? matched > 0 : matched * 100 >= minMatch * Math.max(answered, first);
  if (isEnough) return 'enough';
  return answered < first ? 'open' : 'too few';
}

export type MatchCheck = Awaited<ReturnType<typeof openMatchCheck>>;

/** Opens the check of a run's first answers. Throws engine errors. */
export async function openMatchCheck({ request, runtime, run, scan, collector }: ActiveRun) {
  const { minMatch } = request.settings;
  const { engine, series, asks } = runtime;
  const entries = await engine.keyValues.list(SCOPE);
  const textOf = (name: string | undefined) => entries.find((entry) => entry.name === name)?.text ?? null;
  const first = textOf(series) === MATCHED ? FIRST_OF_SERIES : FIRST_ANSWERS;
  const { identifiers } = collector.summary.facts;
  const countsNow = (): Counts => {
    const { matched, notFound } = identifiers;
    return { matched, answered: matched + notFound };
  };
  let isPassed = textOf(run.key) === LIFTED;
  let held = heldShape(textOf(run.key));
  if (held?.why === 'unmatched' && judgeMatches(held, minMatch, held.answered) === 'enough') {
    await liftHold(engine, run);
    isPassed = true;
  }
  /** How many identifiers may be handed out before they are judged, and which ones are. */
  let room = 0;
  let handedOut: number[] = [];

  const passes = (): boolean => {
    isPassed ||= held === null && judgeMatches(countsNow(), minMatch, first) === 'enough';
    return isPassed;
  };
  return {
    /** Returns the halt of a held run; null if it continues or is done. Throws as `asks` does. */
    async halt(): Promise<RunHalt | null> {
      if (scan.answers.answered === scan.answers.wanted || passes()) return null;
      const counts = countsNow();
      if (held === null && judgeMatches(counts, minMatch, first) === 'open') return null;
      const columns = scan.chosen.choices.map(({ column, name }) => name || `column ${column + 1}`);
      held ??= { why: 'unmatched', ...counts, columns };
      const question = `${sayHalt(held, 'terminal')} Continue?`;
      if (await asks?.(question)) {
        await liftHold(engine, run);
        isPassed = true;
        return null;
      }
      await engine.keyValues.put(SCOPE, run.key, JSON.stringify(held));
      return held;
    },
    begin(): void {
      handedOut = [];
      room = Math.max(1, first - countsNow().answered);
    },
    room: () => (passes() ? Number.POSITIVE_INFINITY : room - handedOut.length),
    handOut(numbers: readonly number[]): void {
      if (!passes()) handedOut.push(...numbers);
    },
    /** Returns the numbers of the first identifiers while only those are handed out, else null. */
    onlyFirst: () => (passes() || handedOut.length < room ? null : handedOut),
  };
}

/** Lets runs of this key continue without a check. Throws engine errors. */
export function liftHold(
  { keyValues }: { readonly keyValues: Pick<KeyValueStore, 'put'> },
  { key }: Pick<RunRecord, 'key'>,
): Promise<void> {
  return keyValues.put(SCOPE, key, LIFTED);
}

/** Notes if a run matched, for the next file of its series; a complete run lifts its hold. */
export async function noteMatches(
  { runtime: { engine, series }, run, collector }: ActiveRun,
  isComplete: boolean,
): Promise<void> {
  const { matched, notFound } = collector.summary.facts.identifiers;
  if (series !== undefined && matched + notFound > 0)
    await engine.keyValues.put(SCOPE, series, matched > 0 ? MATCHED : 'not matched');
  if (isComplete) await engine.keyValues.remove(SCOPE, run.key, null);
}
