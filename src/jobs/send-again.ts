/** A finished file once more, as one that was sent: its plan shows what is still to be bought. */
import { join } from 'node:path';
import { NeverStartError, usageProblem } from '../core/errors.js';
import { readPlainFile } from '../core/plain-file.js';
import { parseConfigFile } from '../settings/load-settings.js';
import { type EndedJob, openJobFile } from './ended-jobs.js';
import { sideFileOf } from './inbox-file.js';
import { INBOX_KEYS } from './inbox-folder-settings.js';
import type { Upload, Uploads } from './uploads.js';

/** Of the run that is over: a person sees the cost again, and says whether to try. */
const OF_ITS_RUN = ['try', 'maxCost'];
/** As long as answers are kept: what the file has is not bought again. */
const KEEPING = { maxAge: '30d', maxAgeMissing: '30d', refresh: 'false' };

/**
 * Copies the original of a file in `done/`; its results stay. `fields`: its own settings, as those
 * of a form. Throws `NeverStartError` where it is gone, and what `Uploads.receive` throws.
 */
export async function sendAgain(
  uploads: Uploads,
  job: EndedJob,
): Promise<{ readonly upload: Upload; readonly fields: [key: string, value: string][] }> {
  const { root, inbox, place, folder, under } = job;
  const original = job.files.find(({ type }) => type === 'original');
  const opened = original && (await openJobFile(job, original));
  if (original === undefined || !opened) {
    const what = 'the file is no longer there';
    throw new NeverStartError(usageProblem(what, job.file ?? folder, 'send it again'));
  }
  const { handle, size } = opened;
  const bytes = handle.createReadStream({ start: 0, end: Math.max(0, size - 1) });
  const upload = await uploads
    .receive({ inbox, name: original.name, under, length: size }, bytes)
    .finally(() => bytes.destroy());
  const side = sideFileOf(join(root, place, folder, original.name));
  const known = await readPlainFile(side).then(
    (text) => parseConfigFile(side, text).values,
    () => ({}),
  );
  const kept = Object.entries({ ...known, ...KEEPING }).filter(
    ([key]) => INBOX_KEYS.has(key) && !OF_ITS_RUN.includes(key),
  );
  const fields = kept.flatMap(([key, value]) =>
    [value].flat().map((each): [string, string] => [key, String(each)]),
  );
  return { upload, fields };
}
