/**
 * What the inbox asks of whoever processes its files, what can become of a file, and `reason.txt`.
 */

import { visible } from '../../core/terminal-text.js';
import type { Job, ParkedJob } from './job-folder.js';

/** What became of a file. Sentences are for the people who dropped it. */
export type JobEnd =
  /** Everything is in its folder. */
  | { readonly type: 'done' }
  /** It cannot, or must not, be processed; `reason` is the text of `reason.txt`. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Goes on when quota or budget allow; `memo` is handed back with it, for `chooseRetries`. */
  | {
      readonly type: 'parked';
      readonly reason: string;
      readonly memo: string;
      /** No file is taken for this long, because it would end the same way; 0: others may. */
      readonly holdMs: number;
    }
  /** Stopped in the middle: it goes back to the inbox. */
  | { readonly type: 'put_back' }
  /** A fault that is not the file's and may pass: tried again after `inMs`. */
  | {
      readonly type: 'again';
      readonly why: string;
      readonly inMs: number;
      /** Other files would end the same way: none is taken meanwhile. */
      readonly holds: boolean;
    }
  /** The service refuses the credentials: nothing is taken any more. */
  | { readonly type: 'refused'; readonly why: string };

export interface InboxWork {
  /**
   * Why no file of this inbox can be processed, for its owner; null: they can be. Never rejects.
   */
  whyClosed(): Promise<string | null>;
  /**
   * Processes one file; results go beside it, into its folder. `tries`: how often this watcher got
   * `again` for it before. Never rejects.
   */
  process(job: Job, tries: number): Promise<JobEnd>;
  /** A file has been moved to `folder`; null: back to where it was taken from. Never throws. */
  ended?(job: Job, end: JobEnd, folder: string | null): void;
  /** Which of the waiting files, oldest first, may continue now. Never rejects. */
  chooseRetries(parked: readonly ParkedJob[]): Promise<readonly ParkedJob[]>;
}

const DROP_AGAIN =
  'Answers that were paid for are stored and are not bought again when the file is put into the inbox again.';

/**
 * The first line says what happened; it is also what the log shows. `settings`: what to save for
 * the inbox, if anything.
 */
export function reasonText(what: string, todo: string, settings = ''): string {
  const paragraphs = [`${capital(what)}.`, `What to do: ${todo}.`, settings, DROP_AGAIN];
  return visible(`${paragraphs.filter((each) => each !== '').join('\n\n')}\n`);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const LINK_REFUSED = reasonText(
  'This is a link to another place; only files in the inbox itself are processed',
  'put the file itself into the inbox folder',
);

export const CRASHED_TOO_OFTEN = reasonText(
  'The program crashed each time it processed this file',
  'show the file to whoever runs the inbox; to try again, put it into the inbox once more',
);

/** For a file in `waiting/`. */
export function waitingText(why: string): string {
  return visible(
    `Not finished yet: ${why}.\n\nYou do not need to do anything: the rest is looked up when quota and budget allow it and the service answers;\nthe file then moves to the folder done. The results so far are beside this file (partial); rows that were not\nlooked up yet are in the errors file.\n`,
  );
}
