/** A person's word on a file that waits with "Go on": it goes on, perhaps with other caps. */
import { join } from 'node:path';
import { countText } from '../core/figures.js';
import type { Engine } from '../engine/engine.js';
import type { FileCaps } from '../jobs/file-caps.js';
import { hasGoOn } from '../jobs/job-folder.js';
import { type GivenCaps, goOn } from '../jobs/try-again.js';
import { partsOf } from '../run/facts/judge-runs.js';
import { requestsLeft } from '../run/lookups/spending.js';
import { type Action, RefusedAction } from './actions.js';
import { accountWith, costLine, STORED } from './run-actions.js';
import type { MoneyTerms } from './run-page.js';
import { findJob } from './run-routes.js';
import { startedPath } from './started-page.js';
import { GO_ON_PATH } from './waiting-card.js';

export interface WaitingContext {
  readonly engine: Pick<Engine, 'runs' | 'ledger'>;
  /** The watched folders. */
  readonly inboxes: readonly string[];
  readonly caps: FileCaps;
  readonly terms: MoneyTerms;
}

export function waitingActions({ engine, inboxes, caps, terms }: WaitingContext): Action[] {
  /** `asked`: requests that it may send now; null: not known. Throws where it may not go on. */
  async function find(fields: URLSearchParams) {
    const folder = fields.get('folder') ?? '';
    const job = await findJob(inboxes, { inbox: fields.get('inbox') ?? '', place: 'waiting', folder });
    if (job === null || !hasGoOn(job.waitsFor))
      throw new RefusedAction(
        'not-now',
        'this file does not wait for that any more',
        folder,
        'go back to the dashboard',
      );
    const given = capsOf(fields);
    const settings = await caps.check(job, given);
    const run = job.runId === null ? null : await engine.runs.get(job.runId);
    // The engine may have forgotten it.
    const state = run && (await accountWith(engine, run.id, settings));
    const asked = state && requestsLeft(state);
    if (job.isAtOwnCap && state !== null && asked === 0) {
      const sent = state.run?.requests ?? 0;
      throw new RefusedAction(
        'not-now',
        'with these caps nothing more is sent',
        `${job.file}, ${sent} sent`,
        'raise the cap',
      );
    }
    return { job, given, asked, run: run && { ...run, settings: { ...run.settings, ...settings } } };
  }

  return [
    {
      path: GO_ON_PATH,
      async ask({ fields }) {
        const { job, given, run, asked } = await find(fields);
        const cost = run === null ? UNKNOWN : await costLine(engine, run, terms);
        const isPart = run !== null && asked !== null && asked < partsOf(run).left;
        const part = isPart ? [`At most ${countText(asked)} of them are looked up now.`] : [];
        const lines = [cost, ...part, capLine(given), STORED];
        return { title: `Go on with ${job.file}?`, lines, yes: 'Go on' };
      },
      async carryOut({ fields }) {
        const { job, given } = await find(fields);
        const { id, run, file } = await goOn(job.root, join(job.root, job.place, job.folder), given);
        const path = startedPath(run === null ? id : { id: run, job: id });
        return { path, sentence: `${file} goes on${capsText(given)}`, subject: file };
      },
    },
  ];
}

const UNKNOWN =
  'Every identifier without a stored answer needs a request, which can cost money up to the budget.';

/** Empty fields are no caps; absent ones stay as they are. */
function capsOf(fields: URLSearchParams): GivenCaps {
  return Object.fromEntries(
    ['maxRequests', 'maxCost'].flatMap((key) => {
      const value = fields.get(key)?.trim();
      return value === undefined ? [] : [[key, value === '' ? null : value]];
    }),
  );
}

/** What its caps are from now on. */
function capLine(given: GivenCaps): string {
  const text = capsText(given);
  return text === '' ? 'It has no cap of its own then.' : `In all of its starts together${text}.`;
}

function capsText({ maxRequests, maxCost }: GivenCaps): string {
  const requests = maxRequests != null && `at most ${maxRequests} requests`;
  const cost = maxCost != null && `at most ${maxCost} of overage`;
  const words = [requests, cost].filter(Boolean).join(' and ');
  return words === '' ? '' : `: ${words}`;
}
