/**
 * What `reason.txt` says, for the people who dropped the file: what happened, what to do, and what it has cost.
 */

import { visible } from '../../core/terminal-text.js';

const DROP_AGAIN =
  'Answers that were paid for are kept, and are not bought again when the file is put into the inbox once more.';

/** The first line says what happened; it is also what the log shows. `settings`: what to save for the inbox, if anything. */
export function reasonText(what: string, todo: string, settings = ''): string {
  const paragraphs = [`${capital(what)}.`, `What to do: ${todo}.`, settings, DROP_AGAIN];
  return visible(`${paragraphs.filter((each) => each !== '').join('\n\n')}\n`);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const LINK_REFUSED = reasonText(
  'This is a link to another place, and only files that lie in the inbox themselves are processed',
  'put the file itself into the inbox folder',
);

export const CRASHED_TOO_OFTEN = reasonText(
  'The program crashed each time it processed this file',
  'show the file to whoever runs the inbox; to try it once more, put it into the inbox again',
);

/** For a file in `waiting/`. */
export function waitingText(why: string): string {
  return visible(
    `Not finished yet: ${why}.\n\nNothing needs to be done: the rest is asked for when quota and budget allow it and the service answers, and the\nfile then moves to the folder done. What there is so far lies beside this file (partial), rows that were not asked yet in the errors file.\n`,
  );
}
