/** Which files are ignored, and the names of job folders. */
import { describe, expect, it } from 'vitest';
import { isLeftAlone, isLongName, jobName, stemOf, withFreeName } from '../../src/jobs/inbox-file.js';

describe('names', () => {
  it.each([
    ['customers.csv', false],
    ['parts.csv', false],
    ['a.part', true],
    ['a.CRDOWNLOAD', true],
    ['a.csv.tmp', true],
    ['~$a.xlsx', true],
    ['.a.csv', true],
    ['Thumbs.db', true],
  ])('%s is ignored: %s', (name, expected) => {
    expect(isLeftAlone(name)).toBe(expected);
  });

  it.each([
    ['customers.csv', 'customers'],
    ['customers.jsonl.GZ', 'customers'],
    ['list', 'list'],
    ['v1.2 final.csv', 'v1.2 final'],
    ['.csv', '.csv'],
  ])('%s is called %s', (name, stem) => {
    expect(stemOf(name)).toBe(stem);
  });

  it('a job folder is named after file and time, within the byte limit and without cut characters', () => {
    expect(jobName('a b.csv', Date.UTC(2026, 0, 14, 9, 30, 5))).toBe('a b-2026-01-14T09-30-05Z');
    const long = `${'顧'.repeat(83)}.csv`;
    expect(isLongName(long)).toBe(true);
    expect(stemOf(long)).toBe('顧'.repeat(60));
  });

  it('uses the first free name, and reports other errors', async () => {
    const taken = new Set(['a', 'a-2']);
    const use = async (name: string) => {
      if (taken.has(name)) throw Object.assign(new Error('taken'), { code: 'ENOTEMPTY' });
    };
    expect(await withFreeName('a', use)).toBe('a-3');
    const full = async () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    await expect(withFreeName('a', full)).rejects.toThrow('full');
  });
});
