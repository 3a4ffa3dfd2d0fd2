/** What people do with a file: start, discard, try again, dismiss, continue. */
import { basename } from 'node:path';
import { countOf, countText, sentenceOf } from '../core/figures.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Engine } from '../engine/engine.js';
import type { Draft, FileFinder, FoundFile } from '../jobs/find-files.js';
import { withTableEnding } from '../jobs/inbox-file.js';
import { hasGoOn, isUndecided, newerSettings } from '../jobs/job-folder.js';
import { type Choice, choiceOf, fieldsOf } from '../jobs/plan-upload.js';
import { discard, dismiss, type FileCaps, type GivenCaps, goOn, startFile } from '../jobs/start-file.js';
import { countsOf } from '../run/facts/judge-runs.js';
import { isMoreThan, requestsLeft } from '../run/lookups/spending.js';
import { type Action, actionOn, noEngine, RefusedAction } from './actions.js';
import { filePath } from './plain-pages.js';
import { accountWith, costLine, STORED } from './run-actions.js';
import type { MoneyTerms } from './run-page.js';
import { planPath, readingText } from './upload-choices.js';
import type { UploadParts } from './upload-routes.js';
import { costText, SHOWN_COST, SHOWN_READING, startedText } from './upload-start.js';

export interface FileActionContext extends Pick<UploadParts, 'plans'> {
  readonly engine: Pick<Engine, 'runs' | 'ledger' | 'keyValues'>;
  readonly finder: FileFinder;
  readonly caps: FileCaps;
  readonly terms: MoneyTerms;
}

/** The longest wait for a plan or the engine. */
export const PATIENCE_MS = 3_000;

export function fileActions({ plans, engine, finder, caps, terms }: FileActionContext): Action[] {
  async function findDraft({ id }: { readonly id: string }): Promise<Draft> {
    const draft = await finder.findDraft(id);
    if (draft !== null) return draft;
    const gone = 'this file was started, discarded or moved';
    throw new RefusedAction('not-found', gone, id, 'see the runs on the dashboard');
  }

  async function findFailed({ id }: { readonly id: string }): Promise<FoundFile> {
    const file = await finder.find(id);
    if (file?.place === 'failed') return file;
    throw new RefusedAction('not-found', 'this file is no longer among the failed ones', id);
  }

  /** Returns what a failed file would cost now. */
  async function failedCostLine(file: FoundFile): Promise<string> {
    const draft = await finder.findDraft(file.id);
    const newer = draft && (await newerSettings(`${draft.root}/inbox`, draft));
    if (newer) return `${basename(newer)} in the inbox counts: what it costs at most is not known yet.`;
    const made = draft && (await withinDeadline(plans.plan(draft, {}), PATIENCE_MS));
    if (!made) return 'What it costs at most is not known yet.';
    const { found, refusal } = made;
    if (found === null) return sentenceOf(`It cannot be planned: ${refusal.what}: ${refusal.subject}`);
    const { plan, settings } = found;
    return `Now ${countOf(plan.rows.total, 'row')}: ${costText(plan, settings.maxRequests)}.`;
  }

  /** Throws if the file may not continue. `asked`: requests left, or null if unknown. */
  async function findWaiting({ id, fields }: { readonly id: string; readonly fields: URLSearchParams }) {
    const file = await finder.find(id);
    if (file?.file == null || !(hasGoOn(file.waitsFor) || isUndecided(file.waitsFor)))
      throw new RefusedAction('not-now', 'this file does not wait for that any more', id);
    const given = capsOf(fields);
    const settings = await caps.check(file, given);
    const read = async () => {
      const run = file.runId === null ? null : await engine.runs.get(file.runId);
      // The engine may have forgotten it.
      return { run, state: run && (await accountWith(engine, run.id, settings)) };
    };
    // Carried out once the engine is back, the order would spend unexpectedly.
    const known = await withinDeadline(read(), PATIENCE_MS);
    if (known === undefined) throw noEngine(id);
    const { run, state } = known;
    const asked = state && requestsLeft(state);
    if (file.isAtOwnCap && state !== null && asked === 0) {
      const sent = state.run?.requests ?? 0;
      const what = 'with these caps nothing more is sent';
      throw new RefusedAction('not-now', what, `${file.file}, ${sent} sent`, 'raise the cap');
    }
    return { file, given, asked, run: run && { ...run, settings: { ...run.settings, ...settings } } };
  }

  return [
    actionOn('/files/:id/start', findDraft, {
      async carryOut(draft, { user, fields }) {
        const choice = choiceOf(fields);
        const read = fields.get(SHOWN_READING);
        const isChanged = read !== null && read !== readingText(choice);
        const started = isChanged
          ? 'you changed how the file is read: here is the new plan'
          : await startDraft({ plans, engine }, draft, choice, fields.get(SHOWN_COST), user);
        // The page of the plan shows why, with the same choices.
        if (typeof started === 'string')
          return {
            path: planPath(draft, fieldsOf(choice)),
            sentence: `${draft.file} was not started: ${started}`,
            isRefused: true,
            subject: draft.file,
          };
        const { job, name, found } = started;
        const where = draft.place === 'failed' ? 'is tried again' : 'is started';
        return { path: filePath(job), sentence: `${name} ${where}: ${startedText(found)}.`, subject: name };
      },
    }),
    actionOn('/files/:id/discard', findDraft, {
      async carryOut(draft) {
        await discard(draft);
        return { path: '/', sentence: `${draft.file} was discarded.`, subject: draft.file };
      },
    }),
    actionOn('/files/:id/again', findFailed, {
      async ask(failed) {
        return {
          title: `Try ${failed.file ?? basename(failed.folder)} again?`,
          lines: [
            await failedCostLine(failed),
            'The file is queued, and its earlier results are removed.',
            'Stored answers cost nothing. Every other company needs a paid lookup, up to the budget.',
          ],
          yes: 'Try again',
        };
      },
      async carryOut({ root, folder }, { user: by }) {
        const { id: job, file } = await startFile(engine, root, folder, Date.now(), { by });
        return { path: filePath(job), sentence: `${file} is tried again`, subject: file };
      },
    }),
    actionOn('/files/:id/dismiss', findFailed, {
      async carryOut({ root, folder }) {
        const file = await dismiss(folder);
        return { path: '/', sentence: `${file} is dismissed; it stays in ${root}/failed`, subject: file };
      },
    }),
    actionOn('/files/:id/go-on', findWaiting, {
      async ask({ file, given, run, asked }) {
        const cost = run === null ? UNKNOWN : await costLine(engine, run, terms);
        const isPart = run !== null && asked !== null && asked < countsOf(run).left;
        const part = isPart ? [`At most ${countText(asked)} of them are looked up now.`] : [];
        const lines = [cost, ...part, capLine(given), STORED];
        return { title: `Go on with ${file.file}?`, lines, yes: 'Go on' };
      },
      async carryOut({ file: { id, root, folder }, given }) {
        const { file } = await goOn(root, folder, given);
        return { path: filePath(id), sentence: `${file} goes on${capsText(given)}`, subject: file };
      },
    }),
  ];
}

/** Starts a file for at most the cost that its page showed. Returns its job, or why it did not. */
export async function startDraft(
  { plans, engine }: Pick<FileActionContext, 'plans' | 'engine'>,
  draft: Draft,
  choice: Choice,
  shownCost: string | null,
  by: string,
) {
  // Caps and order may have been chosen since the page was made: they cost nothing to plan.
  const made = plans.made(draft, choice) ?? (await withinDeadline(plans.plan(draft, choice), PATIENCE_MS));
  if (made === undefined) return 'the file is still being read: start it when this page shows its cost';
  const { found } = made;
  if (found === null) return 'the reason is below';
  const { plan, format, overage } = found;
  if (plan.rows.total === 0) return 'the file has no rows';
  const shown = /^\d{1,12}(?:\.\d{1,6})?$/.exec(shownCost ?? '')?.[0];
  // Another page may have made this plan later, when more of the quota was used.
  if (shown !== undefined && plan.spending !== null && isMoreThan(plan.spending.maxCost, shown))
    return 'the file may cost more now than the page showed: the cost below is new';
  // The cost on the page is the limit, whatever others spend meanwhile.
  const cap = overage > 0 && plan.cap !== null ? { maxCost: plan.cap } : {};
  const settings = { ...choice, ...cap };
  const { root, folder, place, file } = draft;
  const name = place === 'failed' ? file : withTableEnding(file, format);
  const { id: job } = await startFile(engine, root, folder, Date.now(), { settings, by, name });
  return { job, name, found };
}

const UNKNOWN = 'Every company without a stored answer needs a paid lookup, up to the budget.';

/** Returns the caps of a form. An empty field removes a cap, an absent one leaves it. */
function capsOf(fields: URLSearchParams): GivenCaps {
  return Object.fromEntries(
    ['maxRequests', 'maxCost'].flatMap((key) => {
      const value = fields.get(key)?.trim();
      return value === undefined ? [] : [[key, value === '' ? null : value]];
    }),
  );
}

function capLine(given: GivenCaps): string {
  const text = capsText(given);
  return text === '' ? 'The file then has no limit of its own.' : `In all of its starts together${text}.`;
}

function capsText({ maxRequests, maxCost }: GivenCaps): string {
  const requests = maxRequests != null && `at most ${maxRequests} paid lookups`;
  const cost = maxCost != null && `at most ${maxCost} extra cost`;
  const words = [requests, cost].filter(Boolean).join(' and ');
  return words === '' ? '' : `: ${words}`;
}
