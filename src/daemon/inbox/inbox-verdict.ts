/**
 * What becomes of a file of the inbox, from how its run ended or what prevented it, and what
 * `reason.txt` says: flags of a message are given as lines for the inbox's settings file, because
 * people who drop files have no command line. Pure.
 */

import { Refusal } from '../../config/parse-value.js';
import type { Setting } from '../../config/setting.js';
import { SETTING_ENTRIES } from '../../config/settings.js';
import {
  BrandEnrichError,
  ERROR_CATALOGUE,
  type ErrorCode,
  errorText,
  InterruptedError,
} from '../../core/errors.js';
import type { EnrichResult } from '../../run/enrich-request.js';
import type { RunHalt } from '../../stores/run-store.js';
import { HOPELESS_REASON } from '../../worker/retry-policy.js';
import { isPassingFault } from './inbox-file.js';
import { FOLDER_ENTRIES, FOLDER_SETTINGS_FILE } from './inbox-folder-settings.js';
import { type JobEnd, reasonText, waitingText } from './job-end.js';

/** No file is taken for this long while the service is down. */
const SERVICE_OUTAGE_MS = 60_000;
const ENGINE_OUTAGE_MS = 15_000;
const CHANGED_MS = 5_000;
const BUG_TRIES = 2;
const BUG_RETRY_MS = 10_000;

/**
 * Why a file is parked; part of its memo. What costs money in vain is not retried automatically.
 */
type ParkedWhy = Exclude<RunHalt['why'], 'useless'>;

/** `memo`: what to remember if it is parked. */
export function verdictOfResult(
  result: Pick<EnrichResult, 'end' | 'isComplete'> & {
    readonly facts: Pick<EnrichResult['facts'], 'failures'>;
  },
  memo: (why: ParkedWhy) => string,
): JobEnd {
  const { end, isComplete, facts } = result;
  if (facts.failures.has(HOPELESS_REASON)) return parked('unreachable', HOPELESS_REASON, memo);
  if (isComplete) return { type: 'done' };
  switch (end.type) {
    case 'finished':
    case 'stopped':
      return { type: 'put_back' };
    case 'cancelled':
      return {
        type: 'failed',
        reason: reasonText('Somebody cancelled its run', 'put it into the inbox again to go on'),
      };
    case 'too_many_failures':
      return {
        type: 'failed',
        reason: reasonText(
          'More lookups failed than are allowed (maxErrors)',
          'see the reasons in the errors file beside this one; put the file into the inbox again to go on',
        ),
      };
    case 'halted':
      if (end.halt.why === 'credentials')
        return { type: 'refused', why: `the service refuses the credentials: ${end.halt.sentence}` };
      if (end.halt.why === 'useless') {
        const todo =
          'have whoever runs the inbox check the address of the service; if the service is known not to have this list, use --allow-unknown';
        return { type: 'failed', reason: reasonText(end.halt.sentence, todo, settingsAdvice(todo)) };
      }
      return parked(end.halt.why, end.halt.sentence, memo);
  }
}

function parked(why: ParkedWhy, sentence: string, memo: (why: ParkedWhy) => string): JobEnd {
  return {
    type: 'parked',
    reason: waitingText(sentence),
    memo: memo(why),
    holdMs: why === 'limit' ? 0 : SERVICE_OUTAGE_MS,
  };
}

/** Not the file's fault. */
const PASSING: readonly ErrorCode[] = [
  'output-unwritable',
  'disk-low',
  'engine-unreachable',
  'engine-unfit',
  'service-unreachable',
];

/**
 * `jobFolder`: removed from messages, because people know the file by its name. `tries`: failed
 * ones before this.
 */
export function verdictOfError(error: unknown, jobFolder: string, tries: number): JobEnd {
  if (error instanceof InterruptedError) return { type: 'put_back' };
  if (!(error instanceof BrandEnrichError)) {
    const why = errorText(error);
    if (isPassingFault(error)) return { type: 'again', why, inMs: ENGINE_OUTAGE_MS, holds: true };
    if (tries < BUG_TRIES) return { type: 'again', why, inMs: BUG_RETRY_MS, holds: false };
    const todo = 'show this to whoever runs the inbox; the log says more';
    return { type: 'failed', reason: reasonText(`Something unexpected happened: ${why}`, todo) };
  }
  const { code, todo } = error;
  const what = error.message.slice(0, -`; ${todo}`.length).replaceAll(`${jobFolder}/`, '');
  if (code === 'input-changed') {
    return { type: 'again', why: ERROR_CATALOGUE[code], inMs: CHANGED_MS, holds: false };
  }
  if (PASSING.includes(code)) {
    return { type: 'again', why: error.message, inMs: ENGINE_OUTAGE_MS, holds: true };
  }
  return { type: 'failed', reason: reasonText(what, todo, settingsAdvice(todo)) };
}

/**
 * A flag; its value, bare or quoted for a shell; and whether nothing but a blank stands before it.
 */
const FLAG =
  /(leave )?(--[a-z]+(?:-[a-z]+)*)(?: ('(?:[^']|'\\'')*'|(?!--|(?:or|and|if|to|for|falls)\b)[^\s,;()]*[^\s,;().]))?/g;
/** A value that a message leaves to its reader. */
const OPEN_VALUE = /^(?:NAME:|\S*:KIND)/;

/**
 * The lines for `brand-enrich.json` for the flags of a "what to do", one for each alternative.
 * Flags that an inbox must not set, that should be left out, or that have no value give none.
 */
export function settingsLines(todo: string): string[] {
  const groups: { values: Record<string, unknown>; end: number; isWhole: boolean }[] = [];
  for (const match of todo.matchAll(FLAG)) {
    const [text, leave, flag, shown] = match;
    const last = groups.at(-1);
    const found = readFlag(flag ?? '', shown);
    const end = match.index + (found?.isSwitch ? (leave ?? '').length + (flag ?? '').length : text.length);
    // Neighbouring flags belong together, others are alternatives.
    const isBeside = last !== undefined && match.index === last.end + 1;
    const group = isBeside ? last : { values: {}, end, isWhole: true };
    if (!isBeside) groups.push(group);
    group.end = end;
    if (found === null || leave !== undefined) group.isWhole = false;
    else group.values[found.key] = joined(group.values[found.key], found.value);
  }
  const lines = groups.filter(({ isWhole }) => isWhole).map(({ values }) => JSON.stringify(values));
  return [...new Set(lines)];
}

interface ReadFlag {
  readonly key: string;
  readonly value: unknown;
  readonly isSwitch: boolean;
}

function readFlag(flag: string, shown: string | undefined): ReadFlag | null {
  const line: Setting<unknown> | undefined = SETTING_ENTRIES.find(([, each]) => each.flag === flag)?.[1];
  const isAllowed = FOLDER_ENTRIES.some(([, each]) => each.flag === flag);
  if (line === undefined || line.key === null || !isAllowed) return null;
  if (line.kind.arity === 'switch') {
    return { key: line.key, value: !flag.startsWith('--no-'), isSwitch: true };
  }
  if (shown === undefined) return null;
  const value = shown.startsWith("'") ? shown.slice(1, -1).replaceAll("'\\''", "'") : shown;
  if (line.kind.parse([value]) instanceof Refusal) return null;
  return { key: line.key, value: /^\d{1,9}$/.test(value) ? Number(value) : value, isSwitch: false };
}

function joined(known: unknown, value: unknown): unknown {
  if (known === undefined) return value;
  return Array.isArray(known) ? [...known, value] : [known, value];
}

/** The paragraph of `reason.txt` that holds the lines; empty when there is none. */
export function settingsAdvice(todo: string): string {
  const lines = settingsLines(todo);
  if (lines.length === 0) return '';
  const which = lines.length === 1 ? 'save this line' : 'save the one of these lines that is meant';
  const open = OPEN_VALUE.test(todo.slice(todo.indexOf('--column ') + '--column '.length));
  return (
    `For this inbox, ${which} as ${FOLDER_SETTINGS_FILE} beside the folder inbox` +
    `${open ? ', with name and kind of the column' : ''} (where there is such a file, add it to what is there), and put the file into the inbox again:\n\n` +
    `${lines.join('\n')}`
  );
}
