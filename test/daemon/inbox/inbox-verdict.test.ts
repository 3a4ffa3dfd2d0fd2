/** What happens to a file after its run, or after an error that prevented it. */
import { describe, expect, it } from 'vitest';
import { FailFileError, InterruptedError, NeverStartError } from '../../../src/core/errors.js';
import { verdictOfError, verdictOfResult } from '../../../src/daemon/inbox/inbox-verdict.js';
import type { LookupsEnd } from '../../../src/run/run-end.js';
import type { RunHalt } from '../../../src/stores/run-store.js';
import { HOPELESS_REASON } from '../../../src/worker/retry-policy.js';

const halted = (why: RunHalt['why']): LookupsEnd => ({
  type: 'halted',
  halt: { why, sentence: 'so it is' },
});
const parkState = (why: string) => `state of ${why}`;

describe('a finished run', () => {
  it.each([
    ['finished', { type: 'finished' }, true, { type: 'done' }],
    ['at its limit with every row answered', halted('limit'), true, { type: 'done' }],
    ['at its limit', halted('limit'), false, { type: 'parked', parkState: 'state of limit', holdMs: 0 }],
    [
      'refused as too many',
      halted('throttled'),
      false,
      { type: 'parked', parkState: 'state of throttled', holdMs: 60_000 },
    ],
    [
      'without a service',
      halted('unreachable'),
      false,
      { type: 'parked', parkState: 'state of unreachable' },
    ],
    ['with answers of no use', halted('useless'), false, { type: 'failed' }],
    ['with wrong credentials', halted('credentials'), false, { type: 'refused' }],
    ['stopped', { type: 'stopped' }, false, { type: 'put_back' }],
    ['cancelled', { type: 'cancelled' }, false, { type: 'failed' }],
    ['with too many failures', { type: 'too_many_failures' }, false, { type: 'failed' }],
  ] as const)('%s', (_, end, isComplete, expected) => {
    expect(verdictOfResult({ end, isComplete, facts: { failures: new Map() } }, parkState)).toMatchObject(
      expected,
    );
  });

  it('with useless answers names the settings of the folder that may help', () => {
    const facts = { failures: new Map() };
    const end = verdictOfResult({ end: halted('useless'), isComplete: false, facts }, parkState);
    expect(end).toMatchObject({
      reason: expect.stringMatching(/\{"allowUnknown":true\}/),
    });
  });

  it.each([
    ['the quota of 100 is used up', /^You do not need to do anything/m],
    ['--max-requests 2 is reached for this run (2 sent)', /raise that limit in brand-enrich\.json/],
    ['--max-cost is reached for this run', /raise that limit in brand-enrich\.json/],
  ])('that stopped because %s says who has to do what', (sentence, expected) => {
    const end: LookupsEnd = { type: 'halted', halt: { why: 'limit', sentence } };
    const facts = { failures: new Map() };
    const verdict = verdictOfResult({ end, isComplete: false, facts }, parkState);
    expect(verdict).toMatchObject({ reason: expect.stringMatching(expected) });
  });

  it('with lookups that failed during an outage waits for the service', () => {
    const facts = { failures: new Map([[HOPELESS_REASON, 3]]) };
    expect(verdictOfResult({ end: { type: 'finished' }, isComplete: true, facts }, parkState).type).toBe(
      'parked',
    );
  });
});

describe('an error', () => {
  const fail = (
    code: 'input-binary' | 'input-changed' | 'disk-low' | 'engine-unreachable' | 'output-unwritable',
  ) => new FailFileError({ code, subject: '/desk/job/a.csv', todo: 'do this' });
  const coded = (code: string) => Object.assign(new Error(code), { code });
  it.each([
    ['of the file', fail('input-binary'), 0, { type: 'failed' }],
    [
      'of its columns',
      new NeverStartError({ code: 'column-doubtful', subject: 'a', todo: 'name it' }),
      0,
      { type: 'failed' },
    ],
    ['that it was still written', fail('input-changed'), 9, { type: 'again', holds: false }],
    ['of the disk', fail('disk-low'), 9, { type: 'again', holds: true }],
    ['of the engine', fail('engine-unreachable'), 9, { type: 'again', holds: true }],
    ['of the folder', fail('output-unwritable'), 9, { type: 'again', holds: true }],
    ['of a full disk', coded('ENOSPC'), 9, { type: 'again', holds: true }],
    ['of ours, at first', new Error('bug'), 0, { type: 'again', holds: false }],
    ['of ours, again and again', new Error('bug'), 2, { type: 'failed' }],
    [
      'of a stop',
      new InterruptedError({ code: 'interrupted', subject: 's', todo: 't' }),
      0,
      { type: 'put_back' },
    ],
  ] as const)('%s', (_, error, tries, expected) => {
    expect(verdictOfError(error, { folder: '/desk/job', file: 'list.csv' }, tries)).toMatchObject(expected);
  });

  it('an advice that asks keeps its question mark alone', () => {
    const error = new NeverStartError({
      code: 'usage-invalid',
      subject: 'colum',
      todo: 'did you mean column?',
    });
    const end = verdictOfError(error, { folder: '/desk/job', file: 'list.csv' }, 0);
    expect(end).toMatchObject({ reason: expect.stringContaining('What to do: did you mean column?\n') });
  });

  it('is explained to the person who dropped the file', () => {
    const error = new FailFileError({
      code: 'input-preamble',
      subject: '/desk/job/a.csv',
      todo: 'skip them with --skip-lines 3',
    });
    const end = verdictOfError(error, { folder: '/desk/job', file: 'list.csv' }, 0);
    expect(end.type === 'failed' && end.reason).toBe(
      'Lines above the header are not part of the table: a.csv.\n\n' +
        'What to do: skip them with skipLines 3.\n\n' +
        'For this inbox, save this line as list.csv.json in the inbox for this file only, or as brand-enrich.json next to the folder inbox for all files (if that file exists, add the line to it), and put the file into the inbox again:\n\n' +
        '{"skipLines":3}\n\n' +
        'Paid answers are stored. If you put the file into the inbox again, they are not bought again.\n',
    );
  });
});
