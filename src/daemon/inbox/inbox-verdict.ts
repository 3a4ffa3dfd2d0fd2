/**
 * The verdict on a file of the inbox, and its `reason.txt`, where flags of a message become names
 * and lines of the inbox's settings file: people who drop files have no command line. Pure.
 */

import { withOptionNames } from '../../config/option-names.js';
import { Refusal } from '../../config/parse-value.js';
import type { Setting } from '../../config/setting.js';
import {
  BrandEnrichError,
  ERROR_CATALOGUE,
  type ErrorCode,
  errorText,
  InterruptedError,
} from '../../core/errors.js';
import { sentenceOf } from '../../core/figures.js';
import { visible } from '../../core/terminal-text.js';
import type { EnrichResult } from '../../run/enrich-file.js';
import type { RunHalt } from '../../stores/run-store.js';
import { HOPELESS_REASON } from '../../worker/retry-policy.js';
import { FOLDER_SETTINGS_FILE, isPassingFault, isSideFile, sideFileOf } from './inbox-file.js';
import { FOLDER_ENTRIES } from './inbox-folder-settings.js';
import type { Job } from './job-folder.js';

/** The verdict on a file. Sentences are for the people who dropped it; `reason` is `reason.txt`. */
export type JobEnd =
  /** Everything is in its folder. */
  | { readonly type: 'done' }
  /** It cannot, or must not, be processed. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Continues when quota or budget allow; `parkState`: for retries. Takes no file for `holdMs`. */
  | { readonly type: 'parked'; readonly reason: string; readonly parkState: string; readonly holdMs: number }
  /** Stopped in the middle: it goes back to the inbox. */
  | { readonly type: 'put_back' }
  /** A fault that may pass: tried again after `inMs`. `holds`: no other file is taken meanwhile. */
  | { readonly type: 'again'; readonly why: string; readonly inMs: number; readonly holds: boolean }
  /** The service refuses the credentials: nothing is taken any more. */
  | { readonly type: 'refused'; readonly why: string };

/** No file is taken for this long while the service is down. */
const SERVICE_OUTAGE_MS = 60_000;
const ENGINE_OUTAGE_MS = 15_000;
const CHANGED_MS = 5_000;
const BUG_TRIES = 2;
const BUG_RETRY_MS = 10_000;

/** Why a file is parked. Files that would waste money are not retried automatically. */
type ParkReason = Exclude<RunHalt['why'], 'useless'>;
type Failures = Pick<EnrichResult['facts'], 'failures'>;

/** `parkState`: what to remember if it is parked. */
export function verdictOfResult(
  { end, isComplete, facts }: Pick<EnrichResult, 'end' | 'isComplete'> & { readonly facts: Failures },
  parkState: (why: ParkReason) => string,
): JobEnd {
  const parked = (why: ParkReason, sentence: string): JobEnd => {
    const holdMs = why === 'limit' ? 0 : SERVICE_OUTAGE_MS;
    const isCapped = why === 'limit' && OWN_CAP.test(sentence);
    const reason = visible(
      `Not finished yet: ${withOptionNames(sentence)}.\n\n${isCapped ? CAPPED : WAITING} ${RESULTS}\n`,
    );
    return { type: 'parked', reason, parkState: parkState(why), holdMs };
  };
  if (facts.failures.has(HOPELESS_REASON)) return parked('unreachable', HOPELESS_REASON);
  if (isComplete) return { type: 'done' };
  switch (end.type) {
    case 'finished':
    case 'stopped':
    case 'declined':
      return { type: 'put_back' };
    case 'cancelled':
      return failed('The run was cancelled', 'to continue, put the file into the inbox again');
    case 'too_many_failures':
      return failed(
        'More lookups failed than maxErrors allows',
        'see the reasons in the errors file next to this one; to continue, put the file into the inbox again',
      );
    case 'halted': {
      const { why, sentence } = end.halt;
      if (why === 'credentials')
        return { type: 'refused', why: `the service refuses the credentials: ${sentence}` };
      return why === 'useless' ? failed(sentence, CHECK_ADDRESS) : parked(why, sentence);
    }
  }
}

const CHECK_ADDRESS =
  'ask the administrator of the inbox to check the address of the service; if the service is known not to have these brands, use --allow-unknown';

/** Not the file's fault. */
const PASSING: readonly ErrorCode[] = [
  'output-unwritable',
  'disk-low',
  'engine-unreachable',
  'engine-unfit',
  'service-unreachable',
];

/**
 * Removes the job's folder from messages: people know the file by its name. `tries`: earlier ones.
 */
export function verdictOfError(
  error: unknown,
  { folder, file }: Pick<Job, 'folder' | 'file'>,
  tries: number,
): JobEnd {
  if (error instanceof InterruptedError) return { type: 'put_back' };
  const isOurs = error instanceof BrandEnrichError;
  const why = errorText(error);
  if (isOurs ? PASSING.includes(error.code) : isPassingFault(error))
    return { type: 'again', why, inMs: ENGINE_OUTAGE_MS, holds: true };
  if (isOurs && error.code === 'input-changed')
    return { type: 'again', why: ERROR_CATALOGUE[error.code], inMs: CHANGED_MS, holds: false };
  if (isOurs) {
    const what = error.message.slice(0, -`; ${error.todo}`.length);
    return failed(what.replaceAll(`${folder}/`, ''), error.todo, file);
  }
  if (tries < BUG_TRIES) return { type: 'again', why, inMs: BUG_RETRY_MS, holds: false };
  return failed(
    `Unexpected error: ${why}`,
    'show this to the administrator of the inbox; the log has details',
  );
}

/** A flag; its value, bare or quoted for a shell; and whether the advice is to omit it. */
const FLAG =
  /(omit )?(--[a-z]+(?:-[a-z]+)*)(?: ('(?:[^']|'\\'')*'|(?!--|(?:or|and|if|to|for|falls)\b)[^\s,;()]*[^\s,;().]))?/g;
/** A value that a message leaves to its reader. */
const OPEN_VALUE = /^(?:NAME:|\S*:KIND)/;

const DROP_AGAIN =
  'Paid answers are stored. If you put the file into the inbox again, they are not bought again.';

/** The first line of the reason says what happened; it is also what the log shows. */
function failed(what: string, todo: string, file = ''): JobEnd & { readonly type: 'failed' } {
  const sentence = sentenceOf(withOptionNames(what));
  const advice = `What to do: ${withOptionNames(todo)}${todo.endsWith('?') ? '' : '.'}`;
  const paragraphs = [sentence, advice, settingsAdvice(todo, file), DROP_AGAIN];
  const text = `${paragraphs.filter((each) => each !== '').join('\n\n')}\n`;
  return { type: 'failed', reason: visible(text) };
}

export const LINK_REFUSED = failed(
  'This is a symbolic link; only files in the inbox itself are processed',
  'put the file itself into the inbox',
);

export const CRASHED_TOO_OFTEN = failed(
  'The program crashed each time it processed this file',
  'show the file to the administrator of the inbox; to try again, put it into the inbox again',
);

const WAITING =
  'You do not need to do anything: the remaining rows are looked up when quota and budget allow it and the service\nanswers.';

/** Limits that settings of the inbox put on each file; see `judgeDenial`. */
const OWN_CAP = /--max-(?:requests|cost)\b/;
const CAPPED =
  'The settings of this inbox limit each file (maxRequests, maxCost). To continue, raise that limit in brand-enrich.json;\notherwise the file waits for the next period.';
const RESULTS =
  'The file then moves to the folder done. The results so far are next to this file (partial).\nRows that were not looked up yet are in the errors file.';

/**
 * The lines for `brand-enrich.json` for the flags of a "what to do", one for each alternative.
 * Flags that an inbox must not set, that should be omitted, or that have no value give none.
 */
export function settingsLines(todo: string): string[] {
  const groups: { values: Record<string, unknown>; end: number; isWhole: boolean }[] = [];
  for (const match of todo.matchAll(FLAG)) {
    const [text, omit = '', flag = '', shown] = match;
    const last = groups.at(-1);
    const found = readFlag(flag, shown);
    const end = match.index + (found?.isSwitch ? omit.length + flag.length : text.length);
    // Neighbouring flags belong together, others are alternatives.
    const isBeside = last !== undefined && match.index === last.end + 1;
    const group = isBeside ? last : { values: {}, end, isWhole: true };
    if (!isBeside) groups.push(group);
    group.end = end;
    if (found === null || omit !== '') group.isWhole = false;
    else {
      const known = group.values[found.key];
      group.values[found.key] = known === undefined ? found.value : [known, found.value].flat();
    }
  }
  const lines = groups.filter(({ isWhole }) => isWhole).map(({ values }) => JSON.stringify(values));
  return [...new Set(lines)];
}

function readFlag(flag: string, shown: string | undefined) {
  const line: Setting<unknown> | undefined = FOLDER_ENTRIES.find(([, each]) => each.flag === flag)?.[1];
  if (line === undefined || line.key === null) return null;
  const { key, kind } = line;
  if (kind.arity === 'switch') return { key, value: !flag.startsWith('--no-'), isSwitch: true };
  if (shown === undefined) return null;
  const value = shown.startsWith("'") ? shown.slice(1, -1).replaceAll("'\\''", "'") : shown;
  if (kind.parse([value]) instanceof Refusal) return null;
  return { key, value: /^(?:0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value, isSwitch: false };
}

/** The paragraph of `reason.txt` with the lines; empty without lines. `file`: its name. */
export function settingsAdvice(todo: string, file: string): string {
  const lines = settingsLines(todo);
  if (lines.length === 0) return '';
  const which = lines.length === 1 ? 'save this line' : 'choose one of these lines and save it';
  const isOpen = OPEN_VALUE.test(todo.slice(todo.indexOf('--column ') + '--column '.length));
  const open = isOpen ? ', with the name and kind of your column,' : '';
  const side = sideFileOf(file);
  const alone = isSideFile(side) ? `as ${side} in the inbox for this file only, or ` : '';
  return `For this inbox, ${which}${open} ${alone}as ${FOLDER_SETTINGS_FILE} next to the folder inbox for all files (if that file exists, add the line to it), and put the file into the inbox again:\n\n${lines.join('\n')}`;
}
