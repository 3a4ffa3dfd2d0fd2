import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT, type ExitCode } from '../../../src/core/errors.js';
import type { JobEnd } from '../../../src/jobs/inbox-verdict.js';
import { createInboxNotices } from '../../../src/jobs/inbox-work.js';
import type { Job } from '../../../src/jobs/job-folder.js';
import type { EnrichResult } from '../../../src/run/enrich-file.js';
import { createRunNotices } from '../../../src/run/notices/notifier.js';
import { makeReport } from '../../../src/run/report/report.js';
import type { FileEvent } from '../../../src/run/run-file.js';
import { createRecordingNotifier } from '../../commands/recording-notifier.js';
import { requestFor, resultOf, STARTED_AT } from '../../commands/results.js';
import { runSettings } from '../../engine/contract/run-settings.js';
import { HALTS } from '../../support/halts.js';
import { ledgerState } from '../ledger-state.js';

const clock = { now: () => STARTED_AT, monotonic: () => 0, sleep: async () => undefined };

const ledger = ledgerState({ quota: 10, sent: 10 });
const PROGRESS = { type: 'progress', record: { id: 'r-1', settings: runSettings() }, ledger } as FileEvent;
const PARKED: FileEvent = { type: 'parked', halt: HALTS.limit, ledger };

const ended = (result: EnrichResult, exitCode: ExitCode = EXIT.done): FileEvent => {
  return { type: 'ended', result, report: makeReport(requestFor(), result, exitCode), exitCode };
};

describe('a run', () => {
  const notices = (input = '/data/customers.csv') => {
    const recorder = createRecordingNotifier();
    return { recorder, run: createRunNotices({ notifier: recorder, input, isSample: false, clock }) };
  };

  it('notifies each time it is parked, once, with the reason and what is left', () => {
    const { recorder, run } = notices();
    for (const event of [PROGRESS, PARKED, PROGRESS, PROGRESS, PARKED]) run.note(event);
    expect(recorder.notices).toMatchObject([
      {
        event: 'parked',
        reason: 'the quota is used up; the run continues when it can spend again',
        account: { left: 0 },
      },
      { event: 'parked', run: { id: 'r-1', label: `${hostname()}: customers.csv` } },
    ]);
    expect(recorder.looks).toHaveLength(3);
  });

  it.each([
    [EXIT.done, ['finish']],
    [EXIT.someFailed, ['finish']],
    [EXIT.tooManyErrors, ['failure']],
    [EXIT.credentials, ['failure']],
    [EXIT.ioError, ['failure']],
    [EXIT.limit, ['parked']],
    [EXIT.interrupted, []],
  ])('that ends with exit code %i is reported as %j', (exitCode, events) => {
    const { recorder, run } = notices();
    run.note(ended(resultOf(), exitCode));
    expect(recorder.notices.map(({ event }) => event)).toEqual(events);
    for (const { report } of recorder.notices) expect(isAbsolute(report ?? '')).toBe(true);
  });

  it('from standard input has a name too', async () => {
    const { recorder, run } = notices('-');
    const failing = run.notingErrors(new AbortController().signal, () => Promise.reject(new Error('x')));
    await expect(failing).rejects.toThrow('x');
    expect(recorder.notices[0]?.run).toEqual({ id: null, label: `${hostname()}: stdin` });
  });

  it('that a person stopped is not reported', async () => {
    const { recorder, run } = notices();
    const failing = run.notingErrors(AbortSignal.abort(), () => Promise.reject(new Error('x')));
    await expect(failing).rejects.toThrow('x');
    expect(recorder.notices).toEqual([]);
  });
});

describe('a file of an inbox', () => {
  const job: Job = {
    folder: '/in/processing/w/list',
    file: 'list.csv',
    path: '/in/processing/w/list/list.csv',
    record: { file: 'list.csv', id: 'j-1', run: null, reason: null, parked: null },
  };
  const parkedFor = (why: 'limit' | 'again'): Job => ({
    ...job,
    record: { ...job.record, parked: { at: 1, since: 1, state: { why, capMark: null } } },
  });
  const notices = () => {
    const recorder = createRecordingNotifier();
    return { recorder, inbox: createInboxNotices({ notifier: recorder, clock }, false) };
  };
  const failed: JobEnd = { type: 'failed', reason: { headline: 'It is empty', details: 'Put another one' } };
  const parked: JobEnd = {
    type: 'parked',
    reason: { headline: 'Not finished yet', details: '' },
    state: { why: 'limit', capMark: null },
  };
  const refused: JobEnd = { type: 'refused', why: 'the service refuses' };

  it.each<[string, JobEnd, Job, object | null]>([
    ['done', { type: 'done' }, job, { event: 'finish', reason: null }],
    ['failed', failed, job, { event: 'failure', reason: 'It is empty' }],
    ['parked', parked, job, { event: 'parked', reason: 'Not finished yet' }],
    ['parked again', parked, parkedFor('limit'), null],
    ['tried again, and parked', parked, parkedFor('again'), { event: 'parked' }],
    ['paused by a person', { ...parked, state: { why: 'paused', capMark: null } }, job, null],
    ['refused', refused, job, { event: 'failure', reason: 'the service refuses' }],
    ['put back', { type: 'put_back' }, job, null],
  ])('that is %s', (_, end, at, expected) => {
    const { recorder, inbox } = notices();
    inbox.noteEnd(at, end, '/in/there/list-1');
    if (expected === null) expect(recorder.notices).toEqual([]);
    else expect(recorder.notices).toMatchObject([{ ...expected, rows: null, report: null }]);
  });

  it('is reported with the final path of its report, and the next file without it', () => {
    const { recorder, inbox } = notices();
    const result = resultOf();
    const report = makeReport(requestFor(), result, EXIT.done);
    const written = { report, file: 'customers.report.json' };
    inbox.noteEnd(job, { type: 'done', written }, '/in/done/list-1');
    inbox.noteEnd(job, failed, '/in/failed/list-2');
    expect(recorder.notices).toMatchObject([
      { run: { id: result.run.id }, rows: { matched: 4 }, report: '/in/done/list-1/customers.report.json' },
      { run: { id: null }, rows: null, report: null },
    ]);
  });

  it('counts as one of many failures when the credentials are refused', () => {
    const { recorder, inbox } = notices();
    for (let file = 0; file < 3; file += 1) inbox.noteEnd(job, refused, null);
    expect(recorder.notices).toHaveLength(1);
  });
});
