/** The verdict on a file of the inbox, with reasons for its sender and the administrator. Pure. */
import {
  BrandEnrichError,
  ERROR_CATALOGUE,
  type ErrorCode,
  errorText,
  InterruptedError,
} from '../core/errors.js';
import { countOf, countText, sentenceOf } from '../core/figures.js';
import { type Naming, type Phrase, phrase, type Remedy, remediesIn, sayPhrase } from '../core/phrase.js';
import { sayRowReason } from '../core/row-reason.js';
import { shortText, visible, visibleLine } from '../core/terminal-text.js';
import type { RunHalt } from '../engine/stores/run-reasons.js';
import {
  cancelledText,
  type Order,
  type Orders,
  pausedText,
  type RunRecord,
} from '../engine/stores/run-store.js';
import type { EnrichResult } from '../run/enrich-file.js';
import type { RunReport } from '../run/report/report.js';
import type { Scan } from '../run/scan/scan.js';
import { namingFor, sayFailure, sayHalt } from '../run/words/say-reason.js';
import { FOLDER_SETTINGS_FILE, isPassingFault, isSideFile, sideFileOf } from './inbox-file.js';
import { INBOX_KEYS } from './inbox-folder-settings.js';
import {
  type Arrival,
  CANCELLED,
  type Job,
  type JobReason,
  type ParkState,
  REASON_AT_MOST,
} from './job-folder.js';

/** The verdict on a file, with the report of its run. Sentences are for the sender. */
export type JobEnd = { readonly written?: { report: RunReport; file: string } | undefined } & (
  | Arrival
  /** It was stopped, and goes back to the waiting files. */
  | { readonly type: 'put_back' }
  /** The service refuses the credentials, so the watcher ends. */
  | { readonly type: 'refused'; readonly why: string }
);

/** A fault that may pass; if `holds`, no other file is taken meanwhile. */
export interface Again {
  readonly type: 'again';
  readonly why: string;
  readonly inMs: number;
  readonly holds: boolean;
}

const ENGINE_OUTAGE_MS = 15_000;
const CHANGED_MS = 5_000;
const BUG_TRIES = 2;
const BUG_RETRY_MS = 10_000;

/** Files that would waste money are not retried without a person. */
type ParkReason = Exclude<RunHalt['why'], 'useless' | 'unmatched'>;

interface RunEnd extends Pick<EnrichResult, 'end' | 'isComplete'> {
  readonly facts: Pick<EnrichResult['facts'], 'hasOutage' | 'identifiers'>;
  readonly run: Pick<RunRecord, 'id' | 'cancelled' | 'paused'>;
}

/** Judges a run. `seesQuota`: see `seesRaisedQuota`. `isTrial`: its trial caps the requests. */
export function verdictOfResult(
  { end, isComplete, facts, run }: RunEnd,
  parkState: (why: ParkReason) => ParkState,
  { seesQuota = true, isTrial = false }: { readonly seesQuota?: boolean; readonly isTrial?: boolean } = {},
): JobEnd {
  const parked = (why: ParkReason, what: string, [next, technical = ''] = WAITING): JobEnd => {
    const reason = reasonOf(what, [`This file is not finished yet. ${next}`, RESULTS], [technical]);
    return { type: 'parked', reason, state: parkState(why) };
  };
  if (facts.hasOutage) return parked('unreachable', sayFailure({ code: 'unavailable' }));
  if (isComplete) return { type: 'done' };
  switch (end.type) {
    case 'finished':
    case 'stopped':
      return { type: 'put_back' };
    case 'declined':
      return triedEnd(facts.identifiers);
    case 'cancelled':
      return cancelledEnd(run.cancelled);
    case 'paused':
      return pausedEnd(run.paused, run.id);
    case 'too_many_failures':
      return failed('Too many lookups failed', SEE_ERRORS, {
        admin: ['More lookups failed than maxErrors allows.'],
      });
    case 'halted': {
      const { halt } = end;
      const words = sayHalt(halt, 'inbox');
      if (halt.why === 'credentials')
        return { type: 'refused', why: `the service refuses the credentials: ${words}` };
      if (halt.why === 'useless') return failed(words, CHECK_ADDRESS);
      if (halt.why === 'unmatched') return unmatchedEnd(words, facts.identifiers.deferred);
      if (halt.why !== 'limit') return parked(halt.why, words);
      if (isTrial && halt.reached.name === 'maxRequests') return triedEnd(facts.identifiers);
      const isCapped = halt.reached.name === 'maxRequests' || halt.reached.name === 'maxCost';
      const next = isCapped ? CAPPED : seesQuota ? WAITING : UNSEEN;
      return parked('limit', words, next);
    }
  }
}

/** Judges a file by its orders; null without one. `name` is its latest run, or the file. */
export function verdictOfOrders({ cancelled, paused }: Orders, name: string): JobEnd | null {
  if (cancelled !== null) return cancelledEnd(cancelled);
  return paused === null ? null : pausedEnd(paused, name);
}

function cancelledEnd(order: Order | null): JobEnd {
  const what = order === null ? 'the run was cancelled' : cancelledText(order);
  const todo = 'to look it up all the same, put it into the inbox again, or press "Try again" on its page';
  const end = failed(what, todo);
  return { ...end, reason: { ...end.reason, code: CANCELLED } };
}

function pausedEnd(order: Order | null, name: string): JobEnd {
  const next = 'It waits until somebody presses "Resume" on its page on the dashboard.';
  const what = order === null ? 'paused' : pausedText(order);
  const reason = reasonOf(what, [`${next} ${STORED}`], [`brand-enrich resume ${name}`]);
  const pause = order === null ? {} : { pause: { by: order.by.slice(0, 200), at: order.at } };
  return parkedForPerson('paused', reason, pause);
}

function triedEnd({ matched, notFound, failed, deferred }: RunEnd['facts']['identifiers']): JobEnd {
  const answered = `${countText(matched)} matched, ${countText(notFound)} not found`;
  const rest = countOf(deferred, 'company waits', 'companies wait');
  const what = `tried first: ${answered}, ${countText(failed)} failed; ${rest} for your approval`;
  const admin = 'Without a dashboard: put the file into the inbox again without the setting try.';
  return parkedForPerson('tried', reasonOf(what, [`${THE_REST} ${STORED}`, RESULTS], [admin]));
}

function unmatchedEnd(question: string, deferred: number): JobEnd {
  const rest = `${countOf(deferred, 'company waits', 'companies wait')} for your decision.`;
  const advice = settingsAdvice(phrase`${{ choose: 'column', example: 'NAME:KIND' }}`, '');
  const words = [`${rest} ${THE_REST} ${STORED}`, RESULTS];
  return parkedForPerson('unmatched', reasonOf(question, words, [advice]));
}

function parkedForPerson(why: ParkState['why'], reason: JobReason, pause = {}): JobEnd {
  return { type: 'parked', reason, state: { why, capMark: null, ...pause } };
}

const THE_REST = 'To look up the rest, press "Look up the rest" on its page on the dashboard.';

const STORED = 'Paid answers are stored: they are not bought again.';

const SEE_ERRORS = 'see the errors file next to this one; to continue, put the file into the inbox again';

const ASK = 'ask the administrator of the inbox to check the address of the service';
const OF_NO_USE = { set: { minMatch: 0 } };
const CHECK_ADDRESS = phrase`${ASK}; if the service is known not to have these brands, use ${OF_NO_USE}`;

const PASSING: readonly ErrorCode[] = [
  ...(['output-unwritable', 'disk-low', 'reader-failed'] as const),
  ...(['engine-unreachable', 'engine-unfit', 'service-unreachable'] as const),
];

/** Returns the texts of an error for a person who does not know our folder of the file. */
export function textsForSender(error: BrandEnrichError, folder: string, naming: Naming = 'keys') {
  const { what, subject, todo } = error.inWords(naming);
  return { what, subject: subject.replaceAll(`${folder}/`, ''), todo };
}

/** Plain words for errors whose own words are technical. */
const PLAIN: Partial<Record<ErrorCode, string>> = {
  'column-doubtful': 'it is unclear which column has the companies',
  'column-unknown': 'this file has no such column',
  'input-binary': 'this is not a table',
  'input-empty': 'this file is empty',
  'input-encoding': 'some letters of this file cannot be read',
  'input-missing': 'this file cannot be opened: it may have been moved or removed',
  'input-preamble': 'there are lines above the names of the columns',
  'input-ragged': 'too many rows have more or fewer cells than the table has columns',
};

/** Judges a file after an error; `tries` counts earlier attempts. */
export function verdictOfError(
  error: unknown,
  { folder, file, record }: Pick<Job, 'folder' | 'file'> & { readonly record: Pick<Job['record'], 'run'> },
  tries: number,
): JobEnd | Again {
  if (error instanceof InterruptedError) return { type: 'put_back' };
  const isOurs = error instanceof BrandEnrichError;
  const again = { type: 'again', why: errorText(error), holds: false } as const;
  if (isOurs ? PASSING.includes(error.code) : isPassingFault(error))
    return { ...again, inMs: ENGINE_OUTAGE_MS, holds: true };
  if (isOurs && error.code === 'input-changed')
    return { ...again, why: ERROR_CATALOGUE[error.code], inMs: CHANGED_MS };
  if (isOurs) {
    const { code } = error;
    const { what, subject, todo } = textsForSender(error, folder);
    // The own words of an error win if they say more than its code.
    const plain = (error.detail.what === ERROR_CATALOGUE[code] ? PLAIN[code] : null) ?? what;
    // The whole file is read before anything is sent.
    const isFree = /^(?:input|column|usage)-/.test(code) && record.run === null && tries === 0;
    const admin = [sentenceOf(`${what}: ${subject}; ${todo}`), settingsAdvice(error.detail.todo, file)];
    const end = failed(`${plain}: ${subject}`, error.detail.todo, { admin, isFree });
    return { ...end, reason: { ...end.reason, code } };
  }
  if (tries < BUG_TRIES) return { ...again, inMs: BUG_RETRY_MS };
  return failed('An error of the program stopped this file', 'show this to the administrator of the inbox', {
    admin: [sentenceOf(again.why), 'The log has details.'],
  });
}

const ROWS_QUOTED = 3;

/** Adds the first cells that could not be looked up to the reason of an end. */
export function quotingInvalid(end: JobEnd, { invalid, counts }: Pick<Scan, 'invalid' | 'counts'>): JobEnd {
  if (!('reason' in end) || invalid.length === 0) return end;
  const quoted = invalid.slice(0, ROWS_QUOTED).map(({ line, value, reason }) => {
    return `line ${line}: '${shortText(visibleLine(value), CELL_AT_MOST)}': ${sayRowReason(reason)}`;
  });
  const rows = countOf(counts.invalid, 'row cannot be looked up', 'rows cannot be looked up');
  const { headline, details } = end.reason;
  const text = `${rows}:\n${quoted.join('\n')}\n\n${details}`;
  return { ...end, reason: { ...end.reason, details: beside(headline, text) } };
}

const CELL_AT_MOST = 80;
const HEADLINE_AT_MOST = 1_000;

const beside = (headline: string, details: string) =>
  shortText(details, REASON_AT_MOST - headline.length - '\n\n\n'.length);

/** Builds a reason from paragraphs: `words` for the sender, `admin` for the administrator. */
function reasonOf(what: string, words: readonly string[], admin: readonly string[] = []): JobReason {
  const headline = shortText(visibleLine(sentenceOf(what)), HEADLINE_AT_MOST);
  const technical = admin.filter((each) => each !== '').join('\n\n');
  const all = technical === '' ? words : [...words, `For the administrator:\n${technical}`];
  return { headline, details: beside(headline, visible(all.join('\n\n'))) };
}

function failed(
  what: string,
  todo: Phrase,
  { admin = [], isFree = false }: { readonly admin?: readonly string[]; readonly isFree?: boolean } = {},
): JobEnd & { readonly type: 'failed' } {
  const advice = sentenceOf(`what to do: ${sayPhrase(todo, namingFor('page'))}`);
  const cost = isFree ? 'Nothing was spent.' : STORED;
  const settings = admin.length === 0 ? [settingsAdvice(todo, '')] : admin;
  return { type: 'failed', reason: reasonOf(what, [advice, cost], settings) };
}

/** The end of a file that may have killed its watcher three times. */
export const CRASHED = parkedForPerson(
  'crashed',
  reasonOf('The program ended three times while it read this file and no other', [
    'Look at the file, or show it to the administrator of the inbox. To have it read again, press ' +
      `"Go on" on its page on the dashboard; put a repaired file into the inbox. ${STORED}`,
  ]),
);

type Next = readonly [words: string, technical?: string];

const WAITING: Next = [
  'You do not need to do anything: the rest is looked up when the quota and the service allow it.',
];

const UNSEEN: Next = [
  'The remaining rows are looked up in the next period, or when the administrator has raised the quota.',
  'A raised quota is not seen by itself on this plan: set ownDomain, press "Check the quota" on the ' +
    'dashboard, or run `brand-enrich ledger check` or `brand-enrich ledger observe --quota N`.',
];

const CAPPED: Next = [
  'To continue, raise the limit on the page of this file on the dashboard; otherwise it waits for the next ' +
    'period.',
  'The caps maxRequests and maxCost also stand in brand-enrich.json, for all files.',
];

const RESULTS =
  'The file then moves to the folder done. The results so far are next to this file (partial). ' +
  'Rows that were not looked up yet are in the errors file.';

/** Values of a settings file of the inbox. */
export type InboxValues = Extract<Remedy, { set: unknown }>['set'];

/** Returns the settings that an error advises and an inbox may have, one for each alternative. */
export function settingsIn(todo: Phrase): InboxValues[] {
  const alternatives = remediesIn(todo).flatMap((remedy) => ('set' in remedy ? [remedy.set] : []));
  const allowed = alternatives.filter((values) => Object.keys(values).every((key) => INBOX_KEYS.has(key)));
  return [...new Map(allowed.map((values) => [JSON.stringify(values), values])).values()];
}

/** Returns the paragraph of `reason.txt` with lines of settings, or an empty text. */
export function settingsAdvice(todo: Phrase, file: string): string {
  const [open] = remediesIn(todo).flatMap((remedy) =>
    'choose' in remedy && remedy.choose === 'column' ? [{ column: remedy.example }] : [],
  );
  const lines = [...settingsIn(todo), ...(open ? [open] : [])].map((values) => JSON.stringify(values));
  if (lines.length === 0) return '';
  const which = lines.length === 1 ? 'save this line' : 'choose one of these lines and save it';
  const yours = open === undefined ? '' : ', with the name and kind of your column,';
  const side = sideFileOf(file);
  const alone = isSideFile(side) ? `as ${side} in the inbox for this file only, or ` : '';
  return (
    `For this inbox, ${which}${yours} ${alone}as ${FOLDER_SETTINGS_FILE} next to the folder inbox ` +
    'for all files (if that file exists, add the line to it), and put the file into the inbox ' +
    `again:\n\n${lines.join('\n')}`
  );
}
