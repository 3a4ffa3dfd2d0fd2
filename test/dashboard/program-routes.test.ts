/** What a program reads of a run, by where its file is and what its record says; what it sends. */
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { programRun } from '../../src/dashboard/program-routes.js';
import { addUploads } from '../../src/dashboard/upload-routes.js';
import type { FoundFile } from '../../src/jobs/find-files.js';
import { DRAFTS_FOLDER } from '../../src/jobs/job-folder.js';
import { createUploads } from '../../src/jobs/uploads.js';
import { judgeRuns } from '../../src/run/facts/judge-runs.js';
import { ledgerState } from '../run/ledger-state.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { faultsOf } from '../support/schemas.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { basic } from './asking.js';
import { noUploads, PASSWORD, startDashboard } from './served.js';
import { dashboardData, foundFile, NOW, runRecord } from './views.js';

const ORDER = { by: 'Ada', at: NOW };

function judged(parts: Parameters<typeof runRecord>[0]) {
  const [shown] = judgeRuns({ ...dashboardData({ runs: [runRecord(parts)] }), ledger: null });
  return shown ?? null;
}

type FileType = FoundFile['files'][number]['type'];
function ended(place: FoundFile['place'], ...names: [name: string, type: FileType][]): FoundFile {
  const files = names.map(([name, type]) => ({ name, type, size: 1 }));
  const reason = { headline: place === 'done' ? '' : 'why', details: '' };
  return foundFile({ place, reason, files });
}

const QUEUED = foundFile({ place: 'waiting', waitsFor: 'again' });
const PROCESSING = foundFile({ place: 'processing' });
const LIVE = judged({});
/** While all spending is paused. */
const PAUSED = ledgerState({ isPaused: true });
const [HELD = null] = judgeRuns(dashboardData({ runs: [runRecord({})], ledger: PAUSED }));
const DONE = judged({ status: 'completed' });
const STOPPED = judged({ status: 'stopped', stop: { type: 'stopped' } });
const STOPPED_PAUSED = judged({ status: 'stopped', stop: { type: 'stopped' }, paused: ORDER });
const CANCELLED = judged({ status: 'cancelled', cancelled: ORDER });

describe('a run for programs', () => {
  it.each<[string, boolean, FoundFile | null, ReturnType<typeof judged>]>([
    ['queued', false, QUEUED, null],
    ['waiting', false, QUEUED, STOPPED],
    ['running', false, PROCESSING, null],
    ['running', false, PROCESSING, LIVE],
    ['paused', false, PROCESSING, judged({ paused: ORDER })],
    // At its own cap it has no result before it has moved.
    ['running', false, PROCESSING, judged({ settings: { maxRequests: 5 }, tally: { requests: 5 } })],
    // As its page says: it is held by the account.
    ['waiting', false, PROCESSING, HELD],
    // Its file has not moved yet.
    ['running', false, PROCESSING, DONE],
    ['waiting', false, ended('waiting'), STOPPED],
    ['paused', false, ended('waiting'), STOPPED_PAUSED],
    ['finished', true, ended('done'), DONE],
    ['finished', true, ended('done'), null],
    ['failed', true, ended('failed'), null],
    ['failed', true, ended('failed'), STOPPED],
    ['cancelled', true, ended('failed'), CANCELLED],
    ['running', false, null, LIVE],
    ['finished', true, null, DONE],
    ['stopped', true, null, STOPPED],
    ['dead', true, null, judged({ heartbeatAt: NOW - 3_600_000 })],
  ])('is %s (ended: %s)', (state, isEnded, started, shown) => {
    const run = programRun('j-1', started, shown);
    expect([run.state, run.isEnded]).toEqual([state, isEnded]);
    expect(faultsOf('run', { version: 1, ...run })).toEqual([]);
  });

  it('leads to the files of its folder, whatever their names', () => {
    const place = ended('done', ['Kunden 1#?.enriched.csv', 'output'], ['a.report.html', 'page']);
    expect(programRun('j-1', place, DONE).links).toEqual({
      run: '/runs/j-1.json',
      page: '/files/j-done',
      output: '/files/j-done/Kunden%201%23%3F.enriched.csv',
      partial: null,
      errors: null,
      report: null,
      reportPage: '/files/j-done/a.report.html',
    });
  });
});

describe('a file that a program sends', () => {
  /** An inbox, and what is in it and in the folder of files that were not started. */
  async function withInbox() {
    const root = await temporaryFolder();
    for (const place of ['inbox', 'waiting']) await mkdir(join(root, place));
    const uploads = createUploads([root], { now: () => NOW });
    const parts = { ...noUploads(), uploads, engine: NO_ORDERS, log: silentLog() };
    const served = await startDashboard({
      addPages(app) {
        addUploads(app, parts);
      },
    });
    const send = (query: string) =>
      fetch(`${served.url}uploads?name=list.csv${query}`, {
        method: 'POST',
        headers: basic(PASSWORD),
        body: 'website\nacme.com\n',
      });
    const kept = () => readdir(join(root, DRAFTS_FOLDER)).catch(() => []);
    return { root, send, kept, started: () => readdir(join(root, 'waiting')) };
  }

  it.each(['', '&start=0'])('is kept, and not started, with %j', async (query) => {
    const { send, kept, started } = await withInbox();
    expect((await send(query)).status).toBe(201);
    expect([(await kept()).length, await started()]).toEqual([1, []]);
  });

  it('is started with start=1', async () => {
    const { send, kept, started } = await withInbox();
    expect((await send('&start=1')).status).toBe(201);
    expect([await kept(), await started()]).toEqual([[], [expect.stringMatching(/^list-/)]]);
  });

  it.each(['', '2', 'true', '1&start=0'])('is refused with start=%s', async (value) => {
    const { send, kept, started } = await withInbox();
    const answer = await send(`&start=${value}`);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'usage-invalid', message: expect.stringContaining('start') } },
    ]);
    expect([await kept(), await started()]).toEqual([[], []]);
  });

  it('has to be sent again when the inbox does not take it, and the message says so', async () => {
    const { root, send, kept } = await withInbox();
    await rename(join(root, 'waiting'), join(root, 'away'));
    const answer = await send('&start=1');
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([503, 'output-unwritable']);
    expect(error.message).toMatch(/^The file cannot be stored now: .*, then send it again$/i);
    expect(await kept()).toEqual([]);
  });
});
