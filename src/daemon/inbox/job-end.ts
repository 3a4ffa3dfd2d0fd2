/**
 * What the inbox asks of whoever processes its files, and what it is told. How a file is processed is not known here.
 */
import type { Job } from './job-folder.js';

/** What became of a file. Sentences are for the people who dropped it. */
export type JobEnd =
  /** Everything is in its folder. */
  | { readonly type: 'done' }
  /** It can or shall not be processed; `reason` is the text of `reason.txt`. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Goes on when quota or budget allow; `memo` is handed back with it, for `chooseRetries`. */
  | {
      readonly type: 'parked';
      readonly reason: string;
      readonly memo: string;
      /** Nothing is taken for so long, because it would fare no better; 0: others may. */
      readonly holdMs: number;
    }
  /** Stopped in the middle: it belongs into the inbox. */
  | { readonly type: 'put_back' }
  /** Trouble that has nothing to do with the file and may pass: tried again after `inMs`. */
  | {
      readonly type: 'again';
      readonly why: string;
      readonly inMs: number;
      /** Other files would fare no better: none is taken meanwhile. */
      readonly holds: boolean;
    }
  /** The service refuses the credentials: nothing is taken any more. */
  | { readonly type: 'refused'; readonly why: string };

/** A file in `waiting/`. */
export interface ParkedJob {
  readonly folder: string;
  readonly file: string;
  readonly parkedAt: number;
  readonly memo: string;
}

export interface InboxWork {
  /** Why no file of this inbox can be processed at all, for its owner; null: they can. Never rejects. */
  whyClosed(): Promise<string | null>;
  /**
   * Processes one file; results go beside it, into its folder. `tries`: how often this watcher has been told
   * `again` for it before. Never rejects.
   */
  process(job: Job, tries: number): Promise<JobEnd>;
  /** A file has come to where its end belongs, `folder`; null: back to where it was taken from. Never throws. */
  ended?(job: Job, end: JobEnd, folder: string | null): void;
  /** Which of the waiting files, oldest first, may go on at this moment. Never rejects. */
  chooseRetries(parked: readonly ParkedJob[]): Promise<readonly ParkedJob[]>;
}
