/** Holds a run of which hardly any of the first answers match, until a person decides. */
import { inJson, orElse } from '../../core/shapes.js';
import type { KeyValueStore } from '../../engine/stores/key-value-store.js';
import { type RunHalt, runHaltShape } from '../../engine/stores/run-reasons.js';
import type { RunRecord } from '../../engine/stores/run-store.js';
import type { ActiveRun } from '../enrich-request.js';
import { sayHalt } from '../words/say-reason.js';

/** The first answers of a run, and where the last file of its series matched. */
export const FIRST_ANSWERS = 50;
const FIRST_OF_SERIES = 200;

/** Entries have the keys of held runs, and the names of series. */
const SCOPE = 'min-match';
/** A person looks up the rest of a held run; it is forgotten when one of its key completes. */
const LIFTED = 'lifted';
const MATCHED = 'matched';
const heldShape = orElse(inJson(runHaltShape), null);

interface Counts {
  readonly matched: number;
  readonly answered: number;
}

/** `minMatch`: percent; null: at least one match. `first`: how many answers are judged. Pure. */
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

/** Throws engine errors. */
export async function openMatchCheck({ request, runtime, run, scan, collector }: ActiveRun) {
  const { minMatch } = request.settings;
  const { engine, series, asks } = runtime;
  const known = await engine.keyValues.list(SCOPE);
  const textOf = (name: string | undefined) => known.find((entry) => entry.name === name)?.text ?? null;
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
  /** Answers to wait for before more is handed out, and the numbers of what is. */
  let room = 0;
  let handedOut: number[] = [];

  const passes = (): boolean => {
    isPassed ||= held === null && judgeMatches(countsNow(), minMatch, first) === 'enough';
    return isPassed;
  };
  return {
    /** The halt of a held run; null: it continues, or nothing is left. Throws as `asks` does. */
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
    /** The numbers of the first identifiers, while no more are handed out; null: more are. */
    onlyFirst: () => (passes() || handedOut.length < room ? null : handedOut),
  };
}

/** Lets the runs of this key continue, whatever matches. Throws engine errors. */
export function liftHold(
  { keyValues }: { readonly keyValues: Pick<KeyValueStore, 'put'> },
  { key }: Pick<RunRecord, 'key'>,
): Promise<void> {
  return keyValues.put(SCOPE, key, LIFTED);
}

/** At the end of a run: for the next file of its series, and for the next start of its key. */
export async function noteMatches(
  { runtime: { engine, series }, run, collector }: ActiveRun,
  isComplete: boolean,
): Promise<void> {
  const { matched, notFound } = collector.summary.facts.identifiers;
  if (series !== undefined && matched + notFound > 0)
    await engine.keyValues.put(SCOPE, series, matched > 0 ? MATCHED : 'not matched');
  if (isComplete) await engine.keyValues.remove(SCOPE, run.key, null);
}
