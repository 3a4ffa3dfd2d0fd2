/** Takes a column or asks: a wrong choice costs ten times as much as a needless question. */
import { type Candidate, type Family, findByName, findCandidates, PLAIN } from './column-evidence.js';
import { WEIGHTS, type Weights } from './column-weights.js';
import { companyOf, type MeasuredColumn, type MeasuredTable } from './measure-columns.js';

export interface Scored extends Candidate {
  /** Log-odds against a table that has no identifiers. */
  readonly score: number;
}

/** Reasons to ask, for people. */
export const DOUBTS = {
  nothing: 'no column clearly holds identifiers',
  unsure: 'no column surely holds identifiers',
  oneValue: 'all rows have the same site or symbol',
  fewSites: 'the links lead to few sites, not to the site of each row',
  shared: 'the links lead to sites that host others',
  kind: 'a symbol may be a ticker or a coin',
  parties: 'two columns name different companies',
  several: 'more than one column could hold the identifiers',
  fewRows: 'there are too few rows to show which column holds the identifiers',
} as const;
export type Doubt = keyof typeof DOUBTS;

/** Doubts about the best candidate alone, however improbable. */
const OF_BEST: readonly Doubt[] = ['kind', 'oneValue', 'fewSites', 'shared'];

export interface Decision {
  /** Later columns fill the gaps of earlier ones. Empty if there is a doubt. */
  readonly taken: readonly Scored[];
  readonly doubt: Doubt | null;
  /** Candidates beside those taken that are worth naming, the most probable first. */
  readonly others: readonly Scored[];
  /** Probability that the best candidate is right, or another of the same company. */
  readonly probability: number;
}

/** A column of this probability is taken without a question. */
const LEAST_PROBABLE = 0.7;
/** At this probability a second column of as plain a name raises no doubt. */
const SURE = 0.95;
/** Least scores: to be probable alone, to fill gaps of another column, to be named to people. */
const LEAST_ALONE = Math.log(LEAST_PROBABLE / (1 - LEAST_PROBABLE));
const LEAST_BESIDE = 2;
export const LEAST_NAMED = -2;
/** Lead of the score of one kind of a column that makes the kind clear. */
const LEAST_LEAD = 3;
/** From this many values on, one site or symbol in all of them is that of the list. */
const LEAST_EQUAL = 5;
const LEAST_ROWS = 3;
/** Least evidence for the kind of symbols: by the subject of the table, and by the symbols. */
const LEAST_CONTEXT = 0.5;
const SHOWN = 0.3;
/** Least shares of the rows with both values in which two columns of a company agree. */
const LEAST_AGREEMENT = 0.5;
const LEAST_ONE_TO_ONE = 0.8;
/** Odds that no such column exists, although `--kind` names its kind. */
const ASKED_ODDS = Math.exp(-5);

/** Scores candidates and sorts them, the most probable first; of equals, one with a name. */
export function scored(candidates: readonly Candidate[], weights: Weights = WEIGHTS): Scored[] {
  const all = candidates.map((each) => {
    const terms = Object.entries(each.evidence).map(([name, x]) => (weights[each.family]?.[name] ?? 0) * x);
    return { ...each, score: terms.reduce((sum, term) => sum + term, each.column.name === '' ? -0.01 : 0) };
  });
  return all.sort((one, other) => other.score - one.score);
}

/** Decides which columns to take, or why to ask. */
export function decide(
  table: MeasuredTable,
  kind: Candidate['kind'] | null = null,
  weights: Weights = WEIGHTS,
): Decision {
  const candidates = scored(table.rows === 0 ? findByName(table) : findCandidates(table, kind), weights);
  const [surest] = candidates;
  if (surest === undefined) return { taken: [], doubt: 'nothing', others: [], probability: 0 };
  const best = preferred(surest, candidates);
  const isSame = (other: Scored) => other === best || (kind === 'auto' && other.column === best.column);
  const together = candidates.filter((other) => isSame(other) || areOfOneCompany(best, other));
  // E-mail addresses raise no doubt about a more probable website.
  const isWebsite = best.family === 'web' && best.evidence.head === 1;
  const isLess = ({ family, score }: Scored) => isWebsite && family === 'mail' && score < best.score;
  const rivals = candidates.filter((other) => !together.includes(other) && !isLess(other));
  const odds = (some: readonly Scored[]) => some.reduce((sum, { score }) => sum + Math.exp(score), 0);
  const none = kind === null ? 1 : ASKED_ODDS;
  const all = none + odds(together) + odds(oncePerCompany(rivals));
  const probability = odds(together) / all;
  const facts = { probability, isNone: none > all / 2, isAsked: kind !== null };
  const doubt = doubtOf(table, best, rivals, facts);
  const beside = together.filter(
    ({ score, column, family, evidence: { markets, head = 0 } }) =>
      score > LEAST_BESIDE &&
      column !== best.column &&
      family === best.family &&
      markets === best.evidence.markets &&
      head >= (best.evidence.head ?? 0),
  );
  const taken = [best, ...beside.slice(0, 2)].sort(
    (one, other) => other.fitting.length - one.fitting.length || one.column.column - other.column.column,
  );
  if (doubt !== null && OF_BEST.includes(doubt)) return { taken: [], doubt, others: [best], probability };
  const seen = new Set(doubt === null ? taken.map(({ column }) => column) : []);
  const others = candidates.filter(
    ({ column, score }) => score > LEAST_NAMED && seen.size < seen.add(column).size,
  );
  return { taken: doubt === null ? taken : [], doubt, others, probability };
}

/** Drops columns that lead to the same companies as a more probable one. */
function oncePerCompany(candidates: readonly Scored[]): readonly Scored[] {
  const likely = candidates.filter(({ score }) => score > LEAST_NAMED);
  return likely.filter((each, at) => likely.slice(0, at).every((other) => !areOfOneCompany(other, each)));
}

/** Returns the best candidate of a column, of `kind` if given; null if the kind is unclear. */
export function kindOfColumn(
  table: MeasuredTable,
  column: MeasuredColumn,
  kind: Candidate['kind'] | null,
): Scored | null {
  const all = (column.filled.length === 0 ? findByName : findCandidates)(table, kind);
  const own = all.filter((each) => each.column === column);
  // Under a name that says the kind, misfits cost nothing: they are invalid and never sent.
  const [best, other] = scored(
    own.filter(({ evidence: { valid = 0, head = 0 } }) => head > 0 || valid >= 0.5),
  );
  if (best === undefined || kind !== null) return best ?? null;
  if (isOfEitherKind(best) || (isSymbolic(best) && best.score < LEAST_NAMED)) return null;
  const isClear = other === undefined || best.score - other.score > LEAST_LEAD;
  return isClear || best.evidence.head === 1 || !isSymbolic(best) ? best : null;
}

function isSymbolic({ family }: Pick<Candidate, 'family'>): boolean {
  return family === 'ticker' || family === 'crypto';
}

/** True if the table does not show whether a symbol is a ticker or a coin. */
function isOfEitherKind({ family, evidence }: Candidate): boolean {
  const { context = 0, listed = 0, known = 0, coins = 0, markets = 0, ambiguous = 0 } = evidence;
  const shown = family === 'ticker' ? listed + known : coins + markets;
  const isEither = (context < 0 && shown < SHOWN) || (context < LEAST_CONTEXT && ambiguous >= SHOWN);
  return isSymbolic({ family }) && isEither;
}

/** Order among columns of one company: checkable codes first, e-mail addresses last. */
const RANK: Readonly<Record<Family, number>> = { isin: 0, web: 1, ticker: 2, crypto: 3, mail: 5 };
const RANK_OF_NUMBERS = 4;

function preferred(surest: Scored, candidates: readonly Scored[]): Scored {
  const rankOf = ({ family, evidence: { lettered = 1, markets = 0 } }: Scored) =>
    isSymbolic({ family }) && (lettered < 0.5 || markets > 0.5) ? RANK_OF_NUMBERS : RANK[family];
  const peers = candidates.filter(
    (other) => other === surest || (other.score > LEAST_ALONE && areOfOneCompany(surest, other)),
  );
  // E-mail addresses are in every row, and prove less.
  const fullest = Math.max(...peers.map(({ column, family }) => (family === 'mail' ? 0 : column.fill)));
  const full = peers.filter(({ column }) => column.fill >= fullest / 2);
  const [best = surest] = full.sort((one, other) => rankOf(one) - rankOf(other));
  return best;
}

function doubtOf(
  table: MeasuredTable,
  best: Scored,
  rivals: readonly Scored[],
  { probability, isNone, isAsked }: { probability: number; isNone: boolean; isAsked: boolean },
): Doubt | null {
  const { family, evidence, fitting } = best;
  const { few = 0, board = 0, deep = 0, shared = 0, head = 0, neg = 0, alone = 0 } = evidence;
  const isSymbol = isSymbolic(best);
  if (few >= 1 && fitting.length >= LEAST_EQUAL) return 'oneValue';
  if (probability < LEAST_PROBABLE) {
    const [rival] = rivals;
    const isRival = rival !== undefined && rival.score > best.score - 3 && !isNone;
    if (isRival && isSymbol && rival.column === best.column) return 'kind';
    if (isRival && rival.column !== best.column) return rival.kind === best.kind ? 'parties' : 'several';
    if (shared > 0.5) return 'shared';
    return few > 0.3 || (board > 0 && deep > 0.5) ? 'fewSites' : isNone ? 'nothing' : 'unsure';
  }
  if (isOfEitherKind(best) && !isAsked) return 'kind';
  const isParty = ({ family: of, score, evidence: { head: named = 0, neg: other = 0 } }: Scored) =>
    of === family && other <= neg && (head > 0 ? score > LEAST_ALONE && named >= head : named === 1);
  if (probability < SURE && rivals.some(isParty) && !(isAsked && isSymbol)) return 'parties';
  const hasSymbol = rivals.some((other) => isSymbolic(other) && other.score > LEAST_ALONE);
  if (isSymbol && !isAsked && probability < SURE && hasSymbol) return 'several';
  if (isAsked || table.rows === 0 || table.rows >= LEAST_ROWS || family === 'isin') return null;
  const isLink = ({ family: other, column }: Scored) =>
    (other === 'web' || other === 'mail') && column !== best.column;
  return (head >= PLAIN || alone === 1) && !rivals.some(isLink) ? null : 'fewRows';
}

/** True if two columns lead to the same company in most rows that have both. */
export function areOfOneCompany(one: Candidate, other: Candidate): boolean {
  if (one.column === other.column) return one.kind === other.kind;
  // A coin and a ticker in one row are two things, which no check tells apart.
  if (one.kind !== other.kind && isSymbolic(one) && isSymbolic(other)) return false;
  // Numbers in names give the order: `Website 1`, `Website 2`.
  const [first, second] = [one, other].map(({ column: { name } }) => name.replace(/\d+/g, '').trim());
  if (one.kind === other.kind && first !== '' && first === second && /\d/.test(one.column.name)) return true;
  const keys = ({ column, kind }: Candidate) => column.cells.map((cell) => cell && companyOf(cell, kind));
  const others = keys(other);
  const pairs = keys(one).flatMap((key, row) => (key && others[row] ? [[key, others[row]] as const] : []));
  if (one.kind === other.kind) {
    const equal = pairs.filter(([key, own]) => key === own).length;
    return pairs.length > 0 && equal >= pairs.length * LEAST_AGREEMENT;
  }
  const [firsts, seconds] = [0, 1].map((at) => new Set(pairs.map((pair) => pair[at])).size);
  const fewer = Math.min(firsts ?? 0, seconds ?? 0);
  return fewer > 1 && fewer > new Set(pairs.map((pair) => pair.join('\t'))).size * LEAST_ONE_TO_ONE;
}
