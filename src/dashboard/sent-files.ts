/** Files that were sent together: what they cost, and their start or end in one go. */
import { costOf } from '../core/decimal.js';
import { countOf, moneyText } from '../core/figures.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Draft, FileFinder } from '../jobs/find-files.js';
import { discard } from '../jobs/start-file.js';
import { type Action, actionOn, RefusedAction } from './actions.js';
import { type FileActionContext, startDraft } from './file-actions.js';
import { DISCARD_PATH, START_ALL_PATH, UNTIL } from './upload-card.js';
import { costText, type Found, requestsAtMost } from './upload-start.js';

const NAMED = 10;

/** How long a question waits for the plans of its files. */
const PATIENCE_MS = 10_000;
/** The field of a file to start: its id, and the cost that the question named. */
const FILE = 'file';

export function startAllAction(parts: Pick<FileActionContext, 'plans' | 'engine' | 'finder'>): Action {
  const { finder, plans } = parts;
  return {
    path: START_ALL_PATH,
    async ask({ fields }) {
      const shown = await shownDrafts(finder, fields);
      const planned = await Promise.all(
        shown.map(async (draft) => {
          const made = await withinDeadline(plans.plan(draft, {}), PATIENCE_MS);
          return { draft, found: made?.found ?? null };
        }),
      );
      const ready = planned.flatMap(({ draft, found }) =>
        found !== null && found.plan.rows.total > 0 ? [{ draft, found }] : [],
      );
      const others = shown.filter((each) => !ready.some(({ draft }) => draft === each));
      const why = 'none of these files can be started yet';
      if (ready.length === 0)
        throw new RefusedAction('not-now', why, namesOf(others), 'open each file to see why');
      const costs = ready.map(
        ({ draft, found }) => `${draft.file}: ${costText(found.plan, found.settings.maxRequests)}.`,
      );
      return {
        title: `Start ${countOf(ready.length, 'file')}?`,
        lines: [
          `Together ${totalText(ready.map(({ found }) => found))}. What is in two of them is paid for once.`,
          ...costs.slice(0, NAMED),
          ...(costs.length > NAMED ? [`And ${countOf(costs.length - NAMED, 'other')}.`] : []),
          ...(others.length > 0 ? [`Not started, because they need a look first: ${namesOf(others)}.`] : []),
        ],
        yes: ready.length === 1 ? 'Start it' : `Start all ${ready.length}`,
        fields: ready.map(({ draft, found }) => [FILE, `${draft.id} ${found.plan.spending?.maxCost ?? ''}`]),
      };
    },
    async carryOut({ user, fields }) {
      const asked = fields.getAll(FILE);
      let count = 0;
      for (const text of asked) {
        const [id = '', cost = ''] = text.split(' ');
        const draft = await finder.findDraft(id);
        // A file that costs more by now stays a draft.
        if (draft !== null && typeof (await startDraft(parts, draft, {}, cost, user)) !== 'string')
          count += 1;
      }
      const left =
        asked.length === count ? '' : `; ${countOf(asked.length - count, 'other is', 'others are')} left`;
      const sentence = `${countOf(count, 'file is', 'files are')} started${left}.`;
      return { path: '/', sentence, subject: String(count) };
    },
  };
}

/** Returns what all files cost at most; each start is capped at its share. */
function totalText(ready: readonly Found[]): string {
  const plans = ready.map(({ plan }) => plan);
  const requests = plans.reduce((sum, plan) => sum + requestsAtMost(plan), 0);
  const overage = plans.reduce((sum, { spending }) => sum + (spending?.overageRequests ?? 0), 0);
  const said = `at most ${countOf(requests, 'paid lookup')}`;
  const [first] = ready;
  if (overage === 0 || first === undefined) return said;
  const { plan, settings } = first;
  const money = moneyText(costOf(overage, settings.overagePrice), plan.currency);
  const isKnown = plans.every(({ spending }) => spending?.withinQuota !== null);
  return `${said}, and ${isKnown ? '' : 'if the quota is used up '}at most ${money} extra cost`;
}

/** `a.csv, b.csv and 3 others` */
function namesOf(shown: readonly Draft[]): string {
  const names = shown.slice(0, NAMED).map(({ file }) => file);
  const rest = shown.length > NAMED ? ` and ${countOf(shown.length - NAMED, 'other')}` : '';
  return `${names.join(', ')}${rest}`;
}

async function shownDrafts(finder: FileFinder, fields: URLSearchParams): Promise<Draft[]> {
  const until = Number(fields.get(UNTIL) ?? Number.NaN);
  return (await finder.listDrafts()).filter(({ changedAt }) => changedAt <= until);
}

export function discardAllAction(finder: FileFinder): Action {
  return actionOn(DISCARD_PATH, ({ fields }) => shownDrafts(finder, fields), {
    async ask(shown) {
      return {
        title: `Discard ${countOf(shown.length, 'file')}?`,
        lines: [`They were sent and not started: ${namesOf(shown)}.`],
        yes: 'Discard all',
        isFinal: true,
      };
    },
    async carryOut(shown) {
      let count = 0;
      for (const draft of shown) {
        // Somebody may have started the file since.
        if ((await finder.findDraft(draft.id)) === null) continue;
        await discard(draft);
        count += 1;
      }
      const sentence = `${countOf(count, 'file was', 'files were')} discarded.`;
      return { path: '/', sentence, subject: String(count) };
    },
  });
}
