import { expect, it } from 'vitest';
import { fileFrom, portableReport } from '../../../src/run/report/portable-report.js';
import { figures } from './pages.js';

const WORK = '/home/ann/work';
const PLACE = { folder: WORK, home: '/home/ann' };

it.each<[what: string, report: string, file: string, name: string, href: string | null]>([
  ['beside it', '/home/ann/work/r.html', '/home/ann/work/c.csv', 'c.csv', './c.csv'],
  ['beside it, outside the folder of the run', '/srv/r.html', '/srv/c.csv', 'c.csv', './c.csv'],
  ['below it', '/srv/out/r.html', '/srv/out/2026/c.csv', '2026/c.csv', './2026/c.csv'],
  ['in a folder beside it', `${WORK}/a/r.html`, `${WORK}/b/c.csv`, '../b/c.csv', './../b/c.csv'],
  ['above it, in the folder of the run', `${WORK}/a/r.html`, `${WORK}/c.csv`, '../c.csv', './../c.csv'],
  ['elsewhere', '/home/ann/work/r.html', '/srv/ann/c.csv', 'c.csv', null],
  ['in the home folder, above the run', '/home/ann/work/r.html', '/home/ann/c.csv', 'c.csv', null],
  ['below home folders', '/r.html', '/home/ann/c.csv', 'c.csv', null],
  ['beside it above home folders', '/r.html', '/c.csv', 'c.csv', './c.csv'],
  ['on a device', '/dev/stdout', '/home/ann/work/c.csv', 'c.csv', null],
  ['standard output', '/home/ann/work/r.html', '-', '-', null],
])('%s', (_, report, file, name, href) => {
  expect(fileFrom(report, file, PLACE)).toEqual({ name, href });
});

it('a report of a run above home folders names no home folder', () => {
  const place = { ...PLACE, folder: '/' };
  expect(fileFrom('/srv/r.html', '/home/bob/c.csv', place)).toEqual({ name: 'c.csv', href: null });
});

it.each([
  ['Kunden Größe 100%#1?.csv', './Kunden%20Gr%C3%B6%C3%9Fe%20100%25%231%3F.csv'],
  ['.hidden "it\'s": a&b.csv', "./.hidden%20%22it's%22%3A%20a%26b.csv"],
  ['C:\\data\\c.csv', './C%3A%5Cdata%5Cc.csv'],
  ['half \ud83e.csv', './half%20%EF%BF%BD.csv'],
])('%s is linked as %s', (name, href) => {
  expect(fileFrom('/srv/r.html', `/srv/${name}`, PLACE)).toEqual({ name, href });
});

it('a portable report renames every file that it names', () => {
  const made = figures({
    input: { name: '/home/ann/secret/customers.csv' },
    files: { output: '/srv/c.csv', errors: '/home/ann/c.errors.csv' },
  });
  const report = portableReport(made, '/srv/r.json', PLACE);
  expect(report).toEqual({
    ...made,
    input: { ...made.input, name: 'customers.csv' },
    files: { output: 'c.csv', errors: 'c.errors.csv' },
  });
  expect(JSON.stringify(report)).not.toMatch(/home|ann\b/);
  const windows = figures({ input: { name: 'C:\\Users\\ann\\customers.csv' } });
  expect(portableReport(windows, '/srv/r.json', PLACE).input.name).toBe('customers.csv');
});
