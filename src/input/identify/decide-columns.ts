/** Decides by score whether to spend: a wrong choice costs ten times a needless question. */
import { type Candidate, type Family, findByName, findCandidates, PLAIN } from './column-evidence.js';
import { WEIGHTS, type Weights } from './column-weights.js';
import { companyOf, type MeasuredColumn, type MeasuredTable } from './measure-columns.js';

export interface Scored extends Candidate {
  /** Log-odds against a table that has no identifiers. */
  readonly score: number;
}

/** Why nothing is taken unasked, for people. */
export const DOUBTS = {
  nothing: 'no column clearly holds identifiers',
  unsure: 'no column surely holds identifiers',
  oneValue: 'one site or symbol stands in all rows',
  fewSites: 'the links lead to few sites, not to the site of each row',
  shared: 'the links lead to sites that host others',
  kind: 'a symbol may be a ticker or a coin',
  parties: 'two columns name different companies',
  several: 'more than one column could hold the identifiers',
  fewRows: 'so few rows do not show which column holds the identifiers',
} as const;
export type Doubt = keyof typeof DOUBTS;

/** Those about the best candidate alone, however improbable. */
const OF_BEST: readonly Doubt[] = ['kind', 'oneValue', 'fewSites', 'shared'];

export interface Decision {
  /** Later ones fill the gaps of earlier ones. Empty where there is a doubt. */
  readonly taken: readonly Scored[];
  readonly doubt: Doubt | null;
  /** Candidates beside those taken that are worth naming, the most probable first. */
  readonly others: readonly Scored[];
  /** Probability that the best one is right, or one of the same company. */
  readonly probability: number;
}

/** From this probability on a column is taken unasked. */
const LEAST_PROBABLE = 0.7;
/** With this one a second column of as plain a name is no doubt. */
const SURE = 0.95;
/** Scores: probable by itself; fills the gaps of a column of the same company; worth naming. */
const LEAST_ALONE = Math.log(LEAST_PROBABLE / (1 - LEAST_PROBABLE));
const LEAST_BESIDE = 2;
export const LEAST_NAMED = -2;
/** By so much one kind of a named column must score more than the other. */
const LEAST_LEAD = 3;
/** In so many values one site or symbol is that of the list, and fewer rows measure nothing. */
const LEAST_EQUAL = 5;
const LEAST_ROWS = 3;
/** Evidence that shows the kind of symbols: of what the table is about, and of the symbols. */
const LEAST_CONTEXT = 0.5;
const SHOWN = 0.3;
/** Shares of the rows with both values, in which columns of one company agree. */
const LEAST_AGREEMENT = 0.5;
const LEAST_ONE_TO_ONE = 0.8;
/** What `--kind` says: there is such a column. */
const ASKED_ODDS = Math.exp(-5);

/** The most probable first; of equals one with a name. */
export function scored(candidates: readonly Candidate[], weights: Weights = WEIGHTS): Scored[] {
  const found = candidates.map((each) => {
    const terms = Object.entries(each.evidence).map(([name, x]) => (weights[each.family]?.[name] ?? 0) * x);
    return { ...each, score: terms.reduce((sum, term) => sum + term, each.column.name === '' ? -0.01 : 0) };
  });
  return found.sort((one, other) => other.score - one.score);
}

export function decide(
  table: MeasuredTable,
  kind: Candidate['kind'] | null = null,
  weights: Weights = WEIGHTS,
): Decision {
  const found = scored(table.rows === 0 ? findByName(table) : findCandidates(table, kind), weights);
  const [surest] = found;
  if (surest === undefined) return { taken: [], doubt: 'nothing', others: [], probability: 0 };
  const best = preferred(surest, found);
  const isSame = (other: Scored) => other === best || (kind === 'auto' && other.column === best.column);
  const together = found.filter((other) => isSame(other) || areOfOneCompany(best, other));
  // Addresses of people are no reason to doubt a website that is surer than they.
  const isWebsite = best.family === 'web' && best.evidence.head === 1;
  const isLess = ({ family, score }: Scored) => isWebsite && family === 'mail' && score < best.score;
  const rivals = found.filter((other) => !together.includes(other) && !isLess(other));
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
  const others = found.filter(
    ({ column, score }) => score > LEAST_NAMED && seen.size < seen.add(column).size,
  );
  return { taken: doubt === null ? taken : [], doubt, others, probability };
}

/** Without columns that lead where a more probable one does. */
function oncePerCompany(found: readonly Scored[]): readonly Scored[] {
  const likely = found.filter(({ score }) => score > LEAST_NAMED);
  return likely.filter((each, at) => likely.slice(0, at).every((other) => !areOfOneCompany(other, each)));
}

/** The reading of one column, of the asked kind if any; null where its kind is unclear. */
export function kindOfColumn(
  table: MeasuredTable,
  column: MeasuredColumn,
  kind: Candidate['kind'] | null,
): Scored | null {
  const all = (column.filled.length === 0 ? findByName : findCandidates)(table, kind);
  const own = all.filter((each) => each.column === column);
  // With a name that says so, what does not fit costs nothing: it is invalid and stays here.
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

/** Whether a symbol may as well be of the other kind, as far as the table shows. */
function isOfEitherKind({ family, evidence }: Candidate): boolean {
  const { context = 0, listed = 0, known = 0, coins = 0, markets = 0, ambiguous = 0 } = evidence;
  const shown = family === 'ticker' ? listed + known : coins + markets;
  const isEither = (context < 0 && shown < SHOWN) || (context < LEAST_CONTEXT && ambiguous >= SHOWN);
  return isSymbolic({ family }) && isEither;
}

/** Order among columns of one company: checkable codes first, addresses of people last. */
const RANK: Readonly<Record<Family, number>> = { isin: 0, web: 1, ticker: 2, crypto: 3, mail: 5 };
const RANK_OF_NUMBERS = 4;

function preferred(surest: Scored, found: readonly Scored[]): Scored {
  const rankOf = ({ family, evidence: { lettered = 1, markets = 0 } }: Scored) =>
    isSymbolic({ family }) && (lettered < 0.5 || markets > 0.5) ? RANK_OF_NUMBERS : RANK[family];
  const peers = found.filter(
    (other) => other === surest || (other.score > LEAST_ALONE && areOfOneCompany(surest, other)),
  );
  // Addresses of people are in every row, and say less.
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

/** Whether two columns lead to the same company in most rows that have both. */
export function areOfOneCompany(one: Candidate, other: Candidate): boolean {
  if (one.column === other.column) return one.kind === other.kind;
  // A coin and a ticker in one row are two things, and no check tells them apart.
  if (one.kind !== other.kind && isSymbolic(one) && isSymbolic(other)) return false;
  // `Website 1` and `Website 2`: the list itself says that the first comes first.
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
