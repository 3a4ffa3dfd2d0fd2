/** The place to drop files, and the buttons for all files that were sent. */
import { countOf } from '../core/figures.js';
import type { Draft } from '../jobs/find-files.js';
import type { UploadsView } from './gather-dashboard.js';
import { ActionButton, type Fields, type Sender } from './plain-pages.js';

/** The place to drop files. The script never renews it, so that a chosen file stays chosen. */
export function UploadCard({ uploads: { roots } }: { uploads: UploadsView }) {
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
        </>
      )}
    </section>
  );
}

/** Paths of the two buttons for all files. */
export const DISCARD_PATH = '/uploads/discard-all';
export const START_ALL_PATH = '/uploads/start-all';
/** The field with the time of the newest file on the page: later files stay as they are. */
export const UNTIL = 'until';

/** The head of the list of drafts, with buttons for all of them. */
export function SentFiles({ received, viewer }: { received: readonly Draft[]; viewer: Sender }) {
  const newest = Math.max(...received.map(({ changedAt }) => changedAt));
  const fields: Fields = [
    [UNTIL, String(newest)],
    ['back', '/#upload-card'],
  ];
  return (
    <div class="sent-head">
      <h3 id="sent">
        {countOf(received.length, 'file is sent and not started', 'files are sent and not started')}
      </h3>
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
  );
}
