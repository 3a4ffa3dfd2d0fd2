/** The caps of a waiting file, and its button "Go on". Pure. */
import { countOf } from '../core/figures.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import type { FoundFile } from '../jobs/find-files.js';
import { hasGoOn, isUndecided } from '../jobs/job-folder.js';
import type { ShownCaps } from '../jobs/start-file.js';
import { countsOf } from '../run/facts/judge-runs.js';
import { Card } from '../run/report/kit/parts.js';
import { filePath, HiddenFields, type Sender } from './plain-pages.js';
import { CapFields } from './upload-start.js';

/** `run`: null where none is known. `caps`: null where its settings cannot be read. */
export function WaitingCard(shown: {
  file: FoundFile;
  run: RunRecord | null;
  caps: ShownCaps | null;
  currency: string | null;
  viewer: Sender;
}) {
  const { file, run, caps, currency, viewer } = shown;
  // A known run has a button of its own.
  const isForgotten = isUndecided(file.waitsFor) && run === null;
  if (!(hasGoOn(file.waitsFor) || isForgotten) || caps === null || file.file === null) return null;
  const isCrashed = file.waitsFor === 'crashed';
  const [title, words] =
    WORDS[isForgotten ? 'forgotten' : isCrashed ? 'crashed' : file.isAtOwnCap ? 'capped' : 'limited'];
  const back = `${filePath(file.id)}#caps`;
  const most = [
    [caps.maxRequests.most, 'paid lookups'],
    [caps.maxCost?.most, currency ?? 'extra cost'],
  ].flatMap(([amount, unit]) => (amount == null ? [] : [`${amount} ${unit}`]));
  return (
    <Card id="caps" title={title}>
      <p class="note">
        {run !== null && `${countOf(countsOf(run).left, 'company', 'companies')} left. `}
        {words}
      </p>
      <form class="choices" method="post" action={`${filePath(file.id)}/go-on`}>
        <HiddenFields fields={Object.entries({ back, token: viewer.formToken })} />
        <CapFields caps={caps} currency={currency} />
        {most.length > 0 && (
          <p class="note">
            Its inbox allows at most {most.join(' and ')} for each file: only its administrator can raise
            that.
          </p>
        )}
        <button type="submit" class={file.isAtOwnCap ? 'main' : undefined}>
          Go on
        </button>
      </form>
    </Card>
  );
}

const WORDS = {
  forgotten: [
    'Look up the rest',
    'The first answers are in the result so far: look at them, then decide about the rest.',
  ],
  crashed: [
    'Read it again',
    'The program ended three times while it read this file and no other. "Go on" reads the file again, ' +
      'with no other large file beside it. Look at the file first: it may end the program again.',
  ],
  capped: [
    'Raise its cap',
    'This file reached its own limit. The limit is for the whole file, with what was bought already. ' +
      'An empty field removes it.',
  ],
  limited: [
    'Its caps',
    'This file waits for quota or budget, and continues automatically when they allow it. What was ' +
      'bought is stored and counts towards its limits.',
  ],
} as const;
