/**
 * Fits what evidence is worth (`column-weights.ts`) from labelled files: a conditional logit with
 * "none" among the choices, held near weights set by hand. `npm run fit-columns -- FOLDER` reads the
 * files of `test/fixtures/columns/labels.tsv` as FOLDER/OWNER__NAME/PATH and says how the chooser
 * does on repositories that it was not fitted on. With `--keep` nothing is written.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { findCandidates } from '../../../dist/src/input/identify/column-evidence.js';
import { WEIGHTS } from '../../../dist/src/input/identify/column-weights.js';
import { areOfOneCompany, decide } from '../../../dist/src/input/identify/decide-columns.js';
import { assertHeader } from '../../../dist/src/input/identify/explain-columns.js';
import { measureTable } from '../../../dist/src/input/identify/measure-columns.js';
import { openInput } from '../../../dist/src/input/open-input.js';

const LABELS = new URL('../../fixtures/columns/labels.tsv', import.meta.url);
const FITTED = new URL('../../../src/input/identify/column-weights.ts', import.meta.url);
const READING = { delimiter: null, encoding: null, header: true, limit: null, ragged: null };
const SETTINGS = { ...READING, records: null, sheet: null, skipLines: 0 };

/** Set by hand, before anything was fitted. What is not here is not evidence. */
const PRIOR = {
  web: {
    one: -5.5, valid: 3, fill: 1.5, few: -6, board: -5, deep: -2.5, shared: -6, head: 2.5, neg: -3.5,
    tickerLike: -4, alone: 2.5,
  },
  mail: { one: -5, valid: 3, fill: 1, few: -5, free: -3, head: 2, neg: -2 },
  isin: { one: -5, valid: 8, fill: 1, few: -3, head: 2 },
  ticker: {
    one: -6, valid: 2, fill: 1, few: -4, lettered: 1.5, closed: -5, other: -6, codes: -3, fixed: -1,
    otherCode: -2, head: 4, listed: 4, known: 3, coins: -2, markets: -4, context: 0.6, wordy: -4, alone: 2, coinHead: -1.5,
  },
  crypto: {
    one: -7, valid: 1, fill: 1, few: -4, lettered: 1, closed: -3, other: -6, codes: -3, fixed: -2,
    otherCode: -2, head: 3, listed: -3, known: -2, coins: 4, markets: 3, context: 0.8, alone: 2, coinHead: 1,
  },
};
/** How strongly weights are held near the prior (L2), and how much a file without identifiers counts. */
const HOLD = 0.5;
const WITHOUT_IDENTIFIER = 3;
const STEPS = 250;
const RATE = 0.05;
const FOLDS = 20;

/** Whether a header is the first symbol of a list: that stops before anything is weighed. */
function isHeaderData(columns, table, open) {
  try {
    assertHeader({ columns, table, kind: null }, open);
    return false;
  } catch {
    return true;
  }
}

/** A label names columns by name, by position from 0 (`#3`) or with `*`; ` | ` parts them. */
function matcher(text) {
  const patterns = text
    .split(' | ')
    .filter((each) => each !== '')
    .map((each) => /^(.*?)(?::(domain|isin|ticker|crypto|id))?$/.exec(each))
    .map(([, name, kind]) => {
      const escaped = name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
      const isNamed = new RegExp(`^${escaped}$`, 'is');
      const isColumn = ({ column, name: written }) =>
        /^#\d+$/.test(name) ? column === Number(name.slice(1)) : isNamed.test(written.trim());
      return (candidate) => isColumn(candidate.column) && (kind === undefined || kind === candidate.kind);
    });
  return (candidate) => patterns.some((matches) => matches(candidate));
}

async function readItem([repository, , path, right, second, stop], folder) {
  const file = join(folder, repository.replace('/', '__'), path);
  const item = { repository, path, hasRight: right !== '', mayStop: right === '' || stop !== '' };
  if (!existsSync(file)) return null;
  try {
    const input = await openInput(file, SETTINGS, { spoolFolder: tmpdir() });
    const { name, shape, sample } = input;
    await input.close();
    const began = performance.now();
    const table = measureTable({ columns: shape.columns, sample, fileName: basename(name) });
    const candidates = findCandidates(table);
    decide(table);
    const took = performance.now() - began;
    const areData = (open) => isHeaderData(shape.columns, table, open);
    const isRight = matcher(right);
    const isSecond = matcher(second);
    const rights = candidates.filter(isRight);
    const kinds = candidates.map((each) =>
      isRight(each)
        ? 'right'
        : isSecond(each) || rights.some((other) => areOfOneCompany(other, each))
          ? 'second'
          : 'wrong',
    );
    return { ...item, table, candidates, kinds, isRight, isSecond, took, areData };
  } catch (error) {
    return { ...item, error: error.message, candidates: [], kinds: [] };
  }
}

/** Weights as one vector, and each candidate as places in it. */
const NAMES = Object.entries(PRIOR).flatMap(([family, of]) => Object.keys(of).map((name) => `${family} ${name}`));
const PLACES = new Map(NAMES.map((name, at) => [name, at]));
const START = Object.values(PRIOR).flatMap((of) => Object.values(of));

function prepared(item) {
  const choices = item.candidates.flatMap((candidate, at) => {
    if (item.kinds[at] === 'second') return [];
    const terms = Object.entries(candidate.evidence).flatMap(([name, x]) => {
      const place = PLACES.get(`${candidate.family} ${name}`);
      return place === undefined || x === 0 ? [] : [[place, x]];
    });
    return [{ terms, isRight: item.kinds[at] === 'right' }];
  });
  const hasRight = choices.some(({ isRight }) => isRight);
  return { choices, hasRight, mayStop: item.mayStop, counts: hasRight ? 1 : WITHOUT_IDENTIFIER };
}

/** Gradient ascent with momentum (Adam) on the log-likelihood. */
function fit(items) {
  const weights = [...START];
  const mean = weights.map(() => 0);
  const square = weights.map(() => 0);
  const usable = items
    .filter(({ areData, table }) => areData !== undefined && !areData(table.columns))
    .map(prepared)
    .filter(({ hasRight, mayStop }) => hasRight || mayStop);
  for (let step = 1; step <= STEPS; step += 1) {
    const slope = weights.map((weight, at) => -HOLD * (weight - START[at]));
    for (const { choices, counts, mayStop } of usable) {
      const odds = choices.map(({ terms }) =>
        Math.exp(Math.min(30, terms.reduce((sum, [at, x]) => sum + weights[at] * x, 0))),
      );
      const all = odds.reduce((sum, each) => sum + each, 1);
      const good = odds.reduce((sum, each, at) => sum + (choices[at].isRight ? each : 0), mayStop ? 1 : 0);
      choices.forEach(({ terms, isRight }, at) => {
        const gain = counts * ((isRight ? odds[at] / good : 0) - odds[at] / all);
        for (const [place, x] of terms) slope[place] += gain * x;
      });
    }
    weights.forEach((_, at) => {
      mean[at] = 0.9 * mean[at] + 0.1 * slope[at];
      square[at] = 0.99 * square[at] + 0.01 * slope[at] ** 2;
      const by = Math.sqrt(square[at] / (1 - 0.99 ** step)) + 1e-8;
      weights[at] += (RATE * (mean[at] / (1 - 0.9 ** step))) / by;
    });
  }
  const families = Object.entries(PRIOR).map(([family, of]) => [
    family,
    Object.fromEntries(
      Object.keys(of).map((name) => [name, Number(weights[PLACES.get(`${family} ${name}`)].toFixed(2))]),
    ),
  ]);
  return Object.fromEntries(families);
}

function judge(item, weights) {
  if (item.error !== undefined) return { verdict: item.mayStop ? 'stopped' : 'unread', error: item.error };
  const decision = decide(item.table, null, weights);
  const seen = [...decision.taken, ...decision.others].map(
    ({ column, kind, score }) => `${column.name}:${kind} ${score.toFixed(1)}`,
  );
  const { probability, doubt, taken } = decision;
  const about = { probability, doubt, seen };
  if (taken.length === 0 || item.areData(taken.map(({ column }) => column))) return { ...about, verdict: item.mayStop ? 'stopped' : 'needless' };
  const verdict = taken.some(item.isRight) ? 'right' : taken.some(item.isSecond) ? 'second' : 'wrong';
  return { ...about, verdict };
}

function report(title, judged) {
  const count = (verdict) => judged.filter((each) => each.verdict === verdict).length;
  const [wrong, needless] = [count('wrong'), count('needless')];
  console.log(
    `${title}: cost ${10 * wrong + needless}, wrong ${wrong}, needless ${needless}, right ${count('right')} + ` +
      `${count('second')} second best, rightly stopped ${count('stopped')}, unread ${count('unread')}`,
  );
  const sure = judged.filter(({ verdict, probability }) => verdict !== 'needless' && verdict !== 'stopped' && probability >= 0.95);
  console.log(`of ${sure.length} choices with P >= 0.95 wrong: ${sure.filter(({ verdict }) => verdict === 'wrong').length}`);
  for (const { verdict, repository, path, seen = [], doubt, probability, error } of judged) {
    if (verdict === 'right' || verdict === 'second' || verdict === 'stopped') continue;
    const why = error ?? `${doubt ?? 'taken'} P ${probability.toFixed(2)} ${seen.slice(0, 4).join(', ')}`;
    console.log(`  ${verdict}: ${repository} ${path}: ${why}`);
  }
}

const WIDEST = 100;

function written(weights) {
  const lines = Object.entries(weights).flatMap(([family, of]) => {
    const parts = [`  ${family}`];
    for (const [name, weight] of Object.entries(of)) {
      const term = ` ${name} ${weight}`;
      if (parts.at(-1).length + term.length > WIDEST) parts.push(`  ${family}`);
      parts[parts.length - 1] += term;
    }
    return parts;
  });
  return readFileSync(FITTED, 'utf8').replace(/`[^`]*\n`;/, `\`\n${lines.join('\n')}\n\`;`);
}

const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-')) throw new Error('usage: npm run fit-columns -- FOLDER [--keep]');
const [, ...lines] = readFileSync(LABELS, 'utf8').trimEnd().split('\n');
const items = [];
for (const line of lines) items.push(await readItem(line.split('\t'), folder));
const there = items.filter((item) => item !== null);
console.log(`${there.length} of ${items.length} labelled files are in ${folder}`);
report('as it stands', there.map((item) => ({ ...item, ...judge(item, WEIGHTS) })));
const repositories = [...new Set(there.map(({ repository }) => repository))].sort();
const foldOf = new Map(repositories.map((repository, at) => [repository, at % FOLDS]));
const judged = Array.from({ length: FOLDS }, (_, fold) => {
  const weights = fit(there.filter(({ repository }) => foldOf.get(repository) !== fold));
  const left = there.filter(({ repository }) => foldOf.get(repository) === fold);
  return left.map((item) => ({ ...item, ...judge(item, weights) }));
}).flat();
report('repositories left out', judged);
const took = there.reduce((sum, item) => sum + (item.took ?? 0), 0) / there.length;
console.log(`${took.toFixed(1)} ms a file`);
if (!flags.includes('--keep')) writeFileSync(FITTED, written(fit(there)));
