/** What happens to a file after its run, or after an error that prevented it. */
import { describe, expect, it } from 'vitest';
import { ConfigError, InterruptedError, RunError } from '../../src/core/errors.js';
import { phrase } from '../../src/core/phrase.js';
import {
  quotingInvalid,
  verdictOfError,
  verdictOfOrders,
  verdictOfResult,
} from '../../src/jobs/inbox-verdict.js';
import { type ParkState, reasonText } from '../../src/jobs/job-folder.js';
import { folderOfFile, readContent } from '../input/reading.js';
import { HALTS, halted } from '../support/halts.js';
import { zipOf } from '../support/workbooks.js';

const identifiers = { matched: 3, notFound: 1, beingFetched: 0, failed: 0, deferred: 8, stored: 0 };
const facts = { hasOutage: false, identifiers };
const ADA = { by: 'ada@office', at: Date.UTC(2026, 0, 14, 9, 30) };
const run = { id: 'r-1', cancelled: ADA, paused: ADA };
const parkState = (why: ParkState['why']): ParkState => ({ why, capMark: 'its caps' });
const parked = (why: ParkState['why']) => ({ type: 'parked', state: parkState(why) });
/** Parked without a cap; the reason has this headline, and details like these. */
const parkedBy = (why: ParkState['why'], headline: string, details: RegExp) => ({
  type: 'parked',
  state: { why, capMark: null },
  reason: { headline, details: expect.stringMatching(details) },
});

it('what is ordered for a file ends it before it is processed: a cancel before a pause', () => {
  expect(verdictOfOrders({ cancelled: null, paused: null }, 'a.csv')).toBeNull();
  expect(verdictOfOrders({ cancelled: ADA, paused: ADA }, 'a.csv')?.type).toBe('failed');
  expect(verdictOfOrders({ cancelled: null, paused: ADA }, 'a.csv')).toMatchObject({
    type: 'parked',
    reason: { details: expect.stringContaining('For the administrator:\nbrand-enrich resume a.csv') },
  });
});

describe('the headline of a file that is no table', () => {
  const folder = folderOfFile();
  const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
  const LOCKED = Buffer.concat([OLE, Buffer.from('EncryptedPackage', 'utf16le')]);
  const TWO = zipOf({ 'a.csv': 'x\n', 'b.csv': 'y\n' });

  it.each<[string, string, Buffer | Promise<Buffer>]>([
    ['This is a document, not a table: list.csv is a PDF document.', 'list.csv', Buffer.from('%PDF-1.7\na')],
    ['This is a picture, not a table: a.csv is a PNG image.', 'a.csv', Buffer.from('\x89PNG\r\n', 'latin1')],
    ['This file is empty: a.csv.', 'a.csv', Buffer.alloc(0)],
    [
      'This workbook is locked with a password: a.xlsx is an Excel workbook with a password.',
      'a.xlsx',
      LOCKED,
    ],
    ['This archive has several tables: a.zip is a ZIP archive with 2 tables (a.csv, b.csv).', 'a.zip', TWO],
  ])('%s', async (headline, name, content) => {
    const error = await readContent(folder, await content, { name }).catch((each: unknown) => each);
    const end = verdictOfError(error, { folder: folder.path, file: name, record: { run: null } }, 0);
    expect(end).toMatchObject({ type: 'failed', reason: { headline } });
    expect('reason' in end && end.reason.details).toMatch(/^What to do: .*\n\nNothing was spent\./);
  });

  it('a file that was moved', () => {
    const error = new RunError({ code: 'input-missing', subject: '/in/x/a.csv', todo: 'look' });
    const end = verdictOfError(error, { folder: '/in/x', file: 'a.csv', record: { run: null } }, 0);
    const headline = 'This file cannot be opened: it may have been moved or removed: a.csv.';
    expect(end).toMatchObject({ reason: { headline } });
  });
});

it('quotes the first invalid cells in a reason, and none without a reason', () => {
  const cell = { line: 36, value: 'not\u202ea site', reason: { code: 'not_domain' as const } };
  const scan = { invalid: Array.from({ length: 5 }, () => cell), counts: { invalid: 5 } } as never;
  const end = quotingInvalid(
    verdictOfOrders({ cancelled: null, paused: ADA }, 'a.csv') ?? { type: 'done' },
    scan,
  );
  const [first, ...rest] = ('reason' in end ? end.reason.details : '').split('\n');
  expect(first).toBe('5 rows cannot be looked up:');
  expect(rest.filter((line) => line.startsWith("line 36: 'not"))).toHaveLength(3);
  expect(quotingInvalid({ type: 'done' }, scan)).toEqual({ type: 'done' });
});

describe('a finished run', () => {
  it.each([
    ['finished', { type: 'finished' }, true, { type: 'done' }],
    ['at its limit with every row answered', halted('limit'), true, { type: 'done' }],
    ['at its limit', halted('limit'), false, parked('limit')],
    ['refused as too many', halted('throttled'), false, parked('throttled')],
    ['without a service', halted('unreachable'), false, parked('unreachable')],
    ['with answers of no use', halted('useless'), false, { type: 'failed' }],
    ['with wrong credentials', halted('credentials'), false, { type: 'refused' }],
    ['stopped', { type: 'stopped' }, false, { type: 'put_back' }],
    [
      'cancelled',
      { type: 'cancelled' },
      false,
      {
        type: 'failed',
        reason: {
          headline: 'Cancelled by ada@office on 14 Jan 2026, 09:30 UTC.',
          details: expect.stringMatching(/^What to do: to look it up all the same, put it into/),
        },
      },
    ],
    [
      'paused',
      { type: 'paused' },
      false,
      parkedBy('paused', 'Paused by ada@office since 14 Jan 2026, 09:30 UTC.', /brand-enrich resume r-1$/m),
    ],
    [
      'ended after its trial, until a person says so',
      { type: 'declined' },
      false,
      parkedBy(
        'tried',
        'Tried first: 3 matched, 1 not found, 0 failed; 8 companies wait for your approval.',
        /"Look up the rest"/,
      ),
    ],
    [
      'held, until a person says so',
      halted('unmatched'),
      false,
      parkedBy(
        'unmatched',
        '0 of 50 found: is `website` the right column?',
        /^8 companies wait for your decision\. .*"Look up the rest"[\s\S]*\{"column":/,
      ),
    ],
    ['with too many failures', { type: 'too_many_failures' }, false, { type: 'failed' }],
  ] as const)('%s', (_, end, isComplete, expected) => {
    expect(verdictOfResult({ run, end, isComplete, facts }, parkState)).toMatchObject(expected);
  });

  it('with useless answers names the settings of the folder that may help', () => {
    const end = verdictOfResult({ run, end: halted('useless'), isComplete: false, facts }, parkState);
    expect(end).toMatchObject({ reason: { details: expect.stringMatching(/\{"minMatch":0\}/) } });
  });

  const RAISE = /raise the limit on the page of this file on the dashboard; .*maxRequests and maxCost/s;
  it.each([
    [HALTS.limit.reached, /^The quota is used up\.$/, /not finished yet\. You do not need to do anything/],
    [{ name: 'maxRequests', maxRequests: 2 }, /^The cap of 2 paid lookups is reached\.$/, RAISE],
    [{ name: 'maxCost' }, /^The cap on money is reached/, RAISE],
  ] as const)('that stopped at %j says who has to do what', (reached, headline, details) => {
    const end = halted('limit', reached);
    const verdict = verdictOfResult({ run, end, isComplete: false, facts }, parkState);
    const reason = { headline: expect.stringMatching(headline), details: expect.stringMatching(details) };
    expect(verdict).toMatchObject({ type: 'parked', reason });
  });

  it('where a raised quota is not seen by itself names the ways, and promises nothing else', () => {
    const ended = { run, end: halted('limit'), isComplete: false, facts };
    const end = verdictOfResult(ended, parkState, { seesQuota: false });
    const text = end.type === 'parked' ? reasonText(end.reason) : '';
    expect(text).toMatch(/ownDomain.*ledger check.*ledger observe --quota N/s);
    expect(text).not.toContain('You do not need to do anything');
  });

  it('with lookups that failed during an outage waits for the service', () => {
    const end = { type: 'finished' } as const;
    const ended = { run, end, isComplete: true, facts: { ...facts, hasOutage: true } };
    expect(verdictOfResult(ended, parkState).type).toBe('parked');
  });
});

describe('an error', () => {
  const DROPPED = { folder: '/desk/job', file: 'list.csv', record: { run: null } };
  const SAID = { subject: 'a', todo: 'name it' };
  const fail = (
    code: 'input-binary' | 'input-changed' | 'disk-low' | 'engine-unreachable' | 'output-unwritable',
  ) => new RunError({ code, subject: '/desk/job/a.csv', todo: 'do this' });
  const coded = (code: string) => Object.assign(new Error(code), { code });
  it.each([
    ['of the file', fail('input-binary'), 0, { type: 'failed' }],
    ['of its columns', new ConfigError({ code: 'column-doubtful', ...SAID }), 0, { type: 'failed' }],
    ['that it was still written', fail('input-changed'), 9, { type: 'again', holds: false }],
    ['of the disk', fail('disk-low'), 9, { type: 'again', holds: true }],
    ['of the engine', fail('engine-unreachable'), 9, { type: 'again', holds: true }],
    ['of the folder', fail('output-unwritable'), 9, { type: 'again', holds: true }],
    ['of a full disk', coded('ENOSPC'), 9, { type: 'again', holds: true }],
    ['of ours, at first', new Error('bug'), 0, { type: 'again', holds: false }],
    ['of ours, again and again', new Error('bug'), 2, { type: 'failed' }],
    ['of a stop', new InterruptedError({ code: 'interrupted', ...SAID }), 0, { type: 'put_back' }],
  ] as const)('%s', (_, error, tries, expected) => {
    expect(verdictOfError(error, DROPPED, tries)).toMatchObject(expected);
  });

  it('an advice that asks keeps its question mark alone', () => {
    const error = new ConfigError({ code: 'usage-invalid', subject: 'colum', todo: 'did you mean column?' });
    const end = verdictOfError(error, DROPPED, 0);
    expect(end).toMatchObject({
      reason: { details: expect.stringContaining('What to do: did you mean column?\n') },
    });
  });

  it('with a line end in a name keeps its headline on one line, and all of it bounded', () => {
    const subject = `a\nb.csv ${'x'.repeat(9_000)}`;
    const error = new RunError({ code: 'input-binary', subject, todo: `look at ${'y'.repeat(9_000)}` });
    const end = verdictOfError(error, DROPPED, 0);
    const reason = end.type === 'failed' ? end.reason : { headline: '', details: '' };
    expect(reason).toMatchObject({ code: 'input-binary' });
    expect(reason.headline).toMatch(/: a\\nb\.csv x+…$/);
    expect(reasonText(reason).length).toBeLessThan(4_000);
  });

  it('is explained to the person who dropped the file', () => {
    const error = new RunError({
      code: 'input-preamble',
      subject: '/desk/job/a.csv',
      todo: phrase`skip them with ${{ set: { skipLines: 3 } }}`,
    });
    const end = verdictOfError(error, DROPPED, 0);
    expect(end.type === 'failed' && reasonText(end.reason)).toBe(
      'There are lines above the names of the columns: a.csv.\n\n' +
        'What to do: skip them with “lines above the header: 3”.\n\n' +
        'Nothing was spent.\n\n' +
        'For the administrator:\n' +
        'Lines above the header are not part of the table: a.csv; skip them with skipLines: 3.\n\n' +
        'For this inbox, save this line as list.csv.json in the inbox for this file only, or as brand-enrich.json next to the folder inbox for all files (if that file exists, add the line to it), and put the file into the inbox again:\n\n' +
        '{"skipLines":3}',
    );
  });

  it.each([
    ['before anything was sent', { run: null }, 0, 'Nothing was spent.'],
    ['after an earlier start', { run: 'r-1' }, 0, 'Paid answers are stored: they are not bought again.'],
    ['after another try', { run: null }, 1, 'Paid answers are stored: they are not bought again.'],
  ])('%s says what was spent', (_, record, tries, words) => {
    const end = verdictOfError(fail('input-binary'), { ...DROPPED, record }, tries);
    expect(end).toMatchObject({ reason: { details: expect.stringContaining(words) } });
  });
});
