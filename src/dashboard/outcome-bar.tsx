/** The identifiers of a run by outcome, as a bar and in words. Pure. */
import { countText } from '../core/figures.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { countsOf } from '../run/facts/judge-runs.js';
import { Bar, Dot } from '../run/report/kit/parts.js';

const TONES = [
  ['matched', 'matched'],
  ['stored', 'already stored'],
  ['not_found', 'not found'],
  ['failed', 'failed'],
  ['left', 'left'],
] as const;

export function Legend() {
  return (
    <ul class="counts legend" aria-hidden="true">
      {TONES.map(([tone, words]) => (
        <li>
          <Dot tone={tone}>{words}</Dot>
        </li>
      ))}
    </ul>
  );
}

/** Counts of identifiers in words and colours, without zeros. */
function outcomesOf(run: RunRecord) {
  const { matched, stored, notFound, failed, left } = countsOf(run);
  const counts = [matched, stored, notFound, failed, left];
  const outcomes = TONES.map(([tone, words], at) => ({ tone, words, count: counts[at] ?? 0 }));
  return outcomes.filter(({ count }) => count > 0);
}

export function OutcomeBar({ run }: { run: RunRecord }) {
  const { total } = countsOf(run);
  const outcomes = outcomesOf(run);
  const label = outcomes.map(({ words, count }) => `${countText(count)} ${words}`).join(', ');
  const drawn = outcomes.filter(({ tone }) => tone !== 'left');
  return (
    <div class="outcome-bar" role="img" aria-label={label} title={label}>
      <Bar parts={drawn.map(({ tone, count }) => [tone, count / total])} />
    </div>
  );
}

export function Counts({ run }: { run: RunRecord }) {
  return (
    <>
      <OutcomeBar run={run} />
      <ul class="counts">
        {outcomesOf(run).map(({ tone, words, count }) => (
          <li>
            <Dot tone={tone}>
              {countText(count)} {words}
            </Dot>
          </li>
        ))}
      </ul>
    </>
  );
}
