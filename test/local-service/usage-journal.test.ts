import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunError } from '../../src/core/errors.js';
import {
  type NoticeState,
  readUsageCounts,
  type UsageCount,
  UsageJournal,
} from '../../src/local-service/usage-journal.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const newPath = async () => join(await temporaryFolder(), 'usage.jsonl');
const NOTICE: NoticeState = { at: 1, requests: 5, quota: 6, open: ['e-mail'] };
const count = (requests: number, change: Partial<UsageCount> = {}): UsageCount => ({
  account: 'data',
  period: '2026-03',
  requests,
  notice: null,
  ...change,
});

describe('the usage journal', () => {
  it('an acknowledged change is in the file although it was never closed', async () => {
    const path = await newPath();
    const journal = new UsageJournal(path);
    journal.change(count(1));
    journal.change(count(2));
    await journal.written();
    expect(readUsageCounts(path)).toEqual([count(2)]);
  });

  it('changes of one turn share one acknowledgement and one line', async () => {
    const path = await newPath();
    const journal = new UsageJournal(path);
    const promises = [1, 2, 3].map((requests) => {
      journal.change(count(requests));
      return journal.written();
    });
    expect(new Set(promises).size).toBe(1);
    await promises[0];
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(1);
  });

  it.each([
    ['a torn last line', '{"account":"data","period":"2026-03","requ'],
    ['a line that is not a count', '{"account":"data"}\nnull\n42\n'],
    ['an older count after a newer one', `${JSON.stringify(count(3))}\n`],
  ])('%s loses nothing', async (_title, tail) => {
    const path = await newPath();
    writeFileSync(path, `${JSON.stringify(count(5, { notice: NOTICE }))}\n${tail}`);
    const journal = new UsageJournal(path);
    expect(journal.read('data', '2026-03')).toEqual(count(5, { notice: NOTICE }));
    journal.close();
    expect(readUsageCounts(path)).toEqual([count(5, { notice: NOTICE })]);
  });

  it('a notice delivered by one channel is not owed again on it, whichever line is read last', async () => {
    const path = await newPath();
    const lines = [['webhook', 'e-mail'], ['e-mail'], ['webhook', 'e-mail']] as const;
    const texts = lines.map((open) => JSON.stringify(count(5, { notice: { ...NOTICE, open } })));
    writeFileSync(path, `${texts.join('\n')}\n`);
    expect(readUsageCounts(path)).toEqual([count(5, { notice: NOTICE })]);
  });

  it('opening compacts the file', async () => {
    const path = await newPath();
    writeFileSync(path, Array.from({ length: 10_000 }, (_, i) => `${JSON.stringify(count(i))}\n`).join(''));
    new UsageJournal(path).close();
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(count(9_999))}\n`);
  });

  it('the file is rewritten when it has grown, and continues', async () => {
    const path = await newPath();
    const journal = new UsageJournal(path);
    const account = 'x'.repeat(1_000_000);
    for (let requests = 1; requests <= 12; requests += 1) {
      journal.change(count(requests, { account }));
      await journal.written();
    }
    expect(statSync(path).size).toBeLessThan(9_000_000);
    expect(readUsageCounts(path)).toEqual([count(12, { account })]);
    journal.close();
  });

  it('accounts and periods are kept apart', () => {
    const journal = new UsageJournal(null);
    journal.change(count(1));
    journal.change(count(2, { period: '2026-04' }));
    journal.change(count(3, { account: 'other' }));
    expect(journal.read('data', '2026-03').requests).toBe(1);
    expect(journal.read('data', '2026-04').requests).toBe(2);
    expect(journal.read('other', '2026-03').requests).toBe(3);
    expect(journal.read('other', '2026-04').requests).toBe(0);
    expect(journal.list()).toHaveLength(3);
  });

  it('a missing folder is an error that names the file', () => {
    expect(() => new UsageJournal('/nowhere/usage.jsonl')).toThrow(RunError);
    expect(() => new UsageJournal('/nowhere/usage.jsonl')).toThrow('/nowhere/usage.jsonl');
  });

  it('reading without opening leaves the file unchanged', async () => {
    const path = await newPath();
    expect(readUsageCounts(path)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    appendFileSync(path, 'torn');
    readUsageCounts(path);
    expect(readFileSync(path, 'utf8')).toBe('torn');
  });
});
