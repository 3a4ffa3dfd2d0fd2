/** Where a file is dropped or chosen, and those that were sent and not started. */
import { agoText, countOf, sizeText } from '../core/figures.js';
import type { Draft, FileFinder } from '../jobs/find-files.js';
import { discard } from '../jobs/start-file.js';
import type { Action } from './actions.js';
import type { UploadsView } from './gather-dashboard.js';
import { ActionButton, type Fields, Folded, filePath, ItemHead, type Sender } from './plain-pages.js';

const SHOWN = 3;

/** Renewed parts are inside it, so that a file being chosen or sent is left alone. */
export function UploadCard(shown: { uploads: UploadsView; now: number; viewer: Sender }) {
  const { uploads, now, viewer } = shown;
  const { roots, received } = uploads;
  const [first = ''] = roots;
  return (
    <section class="card drop-zone" aria-labelledby="upload-card">
      <h2 id="upload-card" class="unseen">
        Enrich a file
      </h2>
      {roots.length === 0 ? (
        <p class="empty">No inbox is set up here: ask the person who runs this to add one.</p>
      ) : (
        <>
          <form id="upload" class="choices" hidden>
            <p class="drop-title">Drop an Excel, CSV, JSON or Parquet file here</p>
            <div class="drop-choose">
              {roots.length === 1 ? (
                <input type="hidden" name="inbox" value="0" />
              ) : (
                <p>
                  <label for="upload-inbox">Inbox</label>{' '}
                  <select id="upload-inbox" name="inbox">
                    {roots.map((root, at) => (
                      <option value={at}>{root}</option>
                    ))}
                  </select>
                </p>
              )}
              <p>
                <label for="upload-file">or choose files</label>{' '}
                <input id="upload-file" type="file" multiple />
              </p>
            </div>
            <p class="note">
              Nothing is spent before you have seen the cost and started it. A file that is put into{' '}
              <code>{first}/inbox</code> starts by itself.
            </p>
            <progress max="1" value="0" hidden aria-label="Sent" />
            <p id="upload-status" role="status" />
            <p id="upload-fault" class="banner bad" role="alert" hidden />
          </form>
          <noscript>
            <p class="empty">
              Sending a file from this page needs JavaScript. Without it, put the file into{' '}
              <code>{first}/inbox</code>.
            </p>
          </noscript>
          <div data-part="uploads">
            {received.length > 0 && <ReceivedList received={received} now={now} viewer={viewer} />}
          </div>
        </>
      )}
    </section>
  );
}

function ReceivedList(shown: { received: readonly Draft[]; now: number; viewer: Sender }) {
  const { received, now, viewer } = shown;
  const newest = Math.max(...received.map(({ changedAt }) => changedAt));
  const others = received.slice(SHOWN);
  const fields: Fields = [
    [UNTIL, String(newest)],
    ['back', '/#upload-card'],
  ];
  return (
    <>
      <div class="sent-head">
        <h3 id="sent">Sent, not started</h3>
        <p class="note">Removed after a day.</p>
        {received.length > 1 && (
          <div class="both">
            <ActionButton by={viewer} path={START_ALL_PATH} fields={fields}>
              See the cost of all
            </ActionButton>
            <ActionButton by={viewer} path={DISCARD_PATH} fields={fields}>
              Discard all
            </ActionButton>
          </div>
        )}
      </div>
      <SentFiles uploads={received.slice(0, SHOWN)} now={now} />
      {others.length > 0 && (
        <Folded id="more-sent" summary={countOf(others.length, 'more file')}>
          <SentFiles uploads={others} now={now} />
        </Folded>
      )}
    </>
  );
}

function SentFiles({ uploads, now }: { uploads: readonly Draft[]; now: number }) {
  return (
    <ul class="sent">
      {uploads.map((upload) => (
        <li>
          <ItemHead
            name={upload.file}
            path={filePath(upload.id)}
            when={`${sizeText(upload.size)}, ${agoText(upload.changedAt, now)}`}
          />
        </li>
      ))}
    </ul>
  );
}

const DISCARD_PATH = '/uploads/discard-all';
/** Where the button of `start-all.ts` is posted. */
export const START_ALL_PATH = '/uploads/start-all';
/** When the newest file that the page showed was received: later ones are not meant. */
const UNTIL = 'until';
export const NAMED = 10;

/** `a.csv, b.csv and 3 others` */
export function namesOf(shown: readonly Draft[]): string {
  const names = shown.slice(0, NAMED).map(({ file }) => file);
  const rest = shown.length > NAMED ? ` and ${countOf(shown.length - NAMED, 'other')}` : '';
  return `${names.join(', ')}${rest}`;
}

/** The files that the page showed. */
export async function shownUploads(finder: FileFinder, fields: URLSearchParams): Promise<Draft[]> {
  const until = Number(fields.get(UNTIL) ?? Number.NaN);
  return (await finder.listDrafts()).filter(({ changedAt }) => changedAt <= until);
}

export function discardAllAction(finder: FileFinder): Action {
  return {
    path: DISCARD_PATH,
    async ask({ fields }) {
      const shown = await shownUploads(finder, fields);
      if (shown.length === 0) return null;
      return {
        title: `Discard ${countOf(shown.length, 'file')}?`,
        lines: [`They were sent and not started: ${namesOf(shown)}.`],
        yes: 'Discard all',
        isFinal: true,
      };
    },
    async carryOut({ fields }) {
      let count = 0;
      for (const upload of await shownUploads(finder, fields)) {
        // One that somebody has started since stays.
        if ((await finder.findDraft(upload.id)) === null) continue;
        await discard(upload);
        count += 1;
      }
      const sentence = `${countOf(count, 'file was', 'files were')} discarded.`;
      return { path: '/', sentence, subject: String(count) };
    },
  };
}
