/** What changed since the output that a run replaces, read back from each format of outputs. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Brand } from '../../../src/brand-api/brand.js';
import { parseIdentifierText } from '../../../src/core/identifier.js';
import { TABLE_FORMATS, type TableFormat } from '../../../src/core/table.js';
import { openChanges } from '../../../src/run/output/changes.js';
import { namesOfRun } from '../../../src/run/output/output-names.js';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { writeOutput } from '../../../src/run/output/write-output.js';
import { SpoolFile } from '../../../src/run/scan/spool-file.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { scanText } from '../scanned.js';
import { planFor } from './plans.js';

type Answers = Readonly<Record<string, Brand | 'not_found' | 'failed'>>;

const brand = (name: string, more: Brand = {}): Brand => ({ name, domain: `${name}.com`, ...more });
const ODD = '=Odd\t "name"\nof  two lines\u0001';
const BEFORE: Answers = {
  'same.com': brand(ODD, { qualityScore: 0.1 + 0.2, claimed: true, company: { employees: 12 } }),
  'better.com': brand('better', { qualityScore: 0.5, claimed: true, description: 'old' }),
  'gone.com': brand('gone'),
  'missing.com': brand('missing'),
  'broken.com': brand('broken'),
  'late.com': 'not_found',
};
const AFTER: Answers = {
  ...BEFORE,
  'better.com': brand('better', { qualityScore: 0.6, claimed: false, description: 'old' }),
  'missing.com': 'not_found',
  'broken.com': 'failed',
  'late.com': brand('late'),
  'fresh.com': brand('-fresh'),
};
const listOf = (...names: string[]) => `website\n${names.map((name) => `${name}.com\n`).join('')}`;
const FIRST = listOf('same', 'gone', 'same', 'better', 'missing', 'broken', 'late');
const SECOND = listOf('fresh', 'better', 'missing', 'same', 'broken', 'late');

/** A run of this list in a folder; returns its changes and the text of their file. */
async function runIn(
  folder: string,
  text: string,
  answers: Answers,
  { format, file = 'changes.csv', ...some }: Partial<OutputPlan> & { format: TableFormat; file?: string },
) {
  const scanned = await scanText(text, { columns: [{ name: 'website', kind: 'domain' }] });
  const { scan, input, texts, folder: spoolFolder } = scanned;
  const plan = planFor({ input: input.shape, allColumns: scan.columns, format, ...some });
  const naming = { output: join(folder, `out.${format}`), format, errors: null, report: null };
  const { names } = namesOfRun(join(folder, 'list.csv'), input.shape, naming);
  const notices: string[] = [];
  const path = join(folder, file);
  const changes = await openChanges({
    plan,
    file: path,
    earlier: names.complete,
    identifiers: scan.identifiers,
    selected: { where: [], choices: scan.chosen.choices, isCut: false },
    spoolFolder,
    stop: new AbortController().signal,
    emit: ({ text }) => notices.push(text),
    openSpool(label) {
      const spool = new SpoolFile(spoolFolder, label, 'list.csv');
      onTestFinished(() => spool.close());
      return spool;
    },
  });
  const renderer = createRenderer(plan);
  for (const [index, each] of texts.entries()) {
    const identifier = parseIdentifierText(each);
    const answer = answers[identifier.value] ?? 'not_found';
    const isBrand = typeof answer !== 'string';
    const status = isBrand ? 'matched' : answer;
    if (isBrand) changes.note(index, each, answer);
    const profile = isBrand ? JSON.stringify(answer) : null;
    const view = { status, identifier, profile, source: 'api', fetchedAt: 0, error: null } as const;
    scan.answers.set(index, status, null, renderer.answer(view));
  }
  const report = await changes.write(scan.answers);
  const common = { scan, renderer, plan, names, isSorted: true, isComplete: true, reasons: new Map() };
  await writeOutput({ ...common, stdout: null, onRows: () => undefined });
  return { report, notices, names, text: await readFile(path, 'utf8') };
}

describe.each(TABLE_FORMATS)('an output as %s', (format) => {
  it('gives the brands that are new, changed and gone, and no others', async () => {
    const folder = await temporaryFolder();
    const first = await runIn(folder, FIRST, BEFORE, { format });
    expect(first.report).toMatchObject({ since: null, new: 5, changed: 0, vanished: 0, unchanged: 0 });
    expect(first.notices.join()).toContain('all its brands will count as new');
    const second = await runIn(folder, SECOND, AFTER, { format });
    expect(second.notices).toEqual([]);
    expect(second.report).toEqual({
      file: join(folder, 'changes.csv'),
      since: expect.stringMatching(/^2\d{3}-.*Z$/),
      new: 2,
      changed: 1,
      unchanged: 1,
      vanished: 2,
      failed: 1,
      fields: { quality_score: 1, claimed: 1 },
    });
    expect(parse(second.text)).toEqual([
      ['change', 'kind', 'identifier', 'name', 'domain', 'fields', 'status'],
      ['new', 'domain', 'fresh.com', "'-fresh", "'-fresh.com", '', 'matched'],
      ['changed', 'domain', 'better.com', 'better', 'better.com', 'quality_score|claimed', 'matched'],
      ['vanished', 'domain', 'missing.com', 'missing', 'missing.com', '', 'not_found'],
      ['new', 'domain', 'late.com', 'late', 'late.com', '', 'matched'],
      ['vanished', 'domain', 'gone.com', 'gone', 'gone.com', '', ''],
    ]);
  });
});

it('changes compare the columns of --fields, and find identifiers without a column of kinds', async () => {
  const folder = await temporaryFolder();
  const some = { format: 'csv', fields: ['description', 'name', 'domain'] } as const;
  await runIn(folder, FIRST, BEFORE, some);
  const { report } = await runIn(folder, FIRST, AFTER, some);
  expect(report).toMatchObject({ new: 1, changed: 0, unchanged: 3, vanished: 1, failed: 1 });
});

it('changes are JSON lines if their file name says so', async () => {
  const folder = await temporaryFolder();
  await runIn(folder, FIRST, BEFORE, { format: 'jsonl' });
  const { text } = await runIn(folder, SECOND, AFTER, { format: 'jsonl', file: 'changes.jsonl' });
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const gone = { kind: 'domain', identifier: 'gone.com', name: 'gone', domain: 'gone.com' };
  expect(lines).toContainEqual({ change: 'vanished', ...gone, fields: [], status: null });
});

it('changes ignore a file that is not the output of a run, and say so', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'out.csv'), 'a,b\n1,2\n3,4\n');
  const { report, notices } = await runIn(folder, FIRST, BEFORE, { format: 'csv' });
  expect(report).toMatchObject({ since: null, new: 5 });
  const words = 'cannot be compared with: the file has no columns brand_status';
  expect(notices).toEqual([expect.stringContaining(words)]);
  expect(existsSync(join(folder, 'out.csv'))).toBe(true);
});
