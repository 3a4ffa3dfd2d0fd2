/** The card of the dashboard that receives a file. Pure. */
import { agoText, sizeText } from '../../core/figures.js';
import { card, html, type Markup } from '../../run/report/markup.js';
import type { Upload } from '../inbox/uploads.js';
import { uploadPath } from './upload-choices.js';

/** What the dashboard shows of uploads. */
export interface UploadsView {
  /** The watched folders, absolute. */
  readonly roots: readonly string[];
  /** Received and not started, the newest first. */
  readonly received: readonly Upload[];
}

/** Renewed parts are inside it, so that a file being chosen or sent is left alone. */
export function uploadCard({ roots, received }: UploadsView, now: number): Markup {
  if (roots.length === 0) {
    return card(
      'upload-card',
      'Enrich a file',
      html`<p class="empty">Files can be sent here once <code>up</code> has an inbox: start it with <code>--inbox DIR</code>.</p>`,
    );
  }
  const [first = ''] = roots;
  const inbox =
    roots.length === 1
      ? html`<input type="hidden" name="inbox" value="0">`
      : html`<label for="upload-inbox">Inbox</label>
<select id="upload-inbox" name="inbox">${roots.map((root, at) => html`<option value="${at}">${root}</option>`)}</select>`;
  const content = html`<form id="upload" class="choices" hidden>
${inbox}
<label for="upload-file">A spreadsheet, CSV, JSON lines or Parquet file; you can also drop it anywhere on this page</label>
<input id="upload-file" type="file" required>
<button type="submit">Send and see the cost</button>
<progress max="1" value="0" hidden aria-label="Sent"></progress>
<p id="upload-said" role="status"></p>
<p id="upload-fault" class="banner bad" role="alert" hidden></p>
<p class="note">Sending a file costs nothing: you see how it is read and what it would cost before you start it.</p>
</form>
<noscript><p class="empty">Sending a file from this page needs JavaScript. Without it, put the file into <code>${first}/inbox</code>.</p></noscript>
<div data-part="uploads">${received.length > 0 && receivedList(received, now)}</div>`;
  return card('upload-card', 'Enrich a file', content);
}

function receivedList(received: readonly Upload[], now: number): Markup {
  const items = received.map(
    (
      upload,
    ) => html`<li><p class="run-head"><a class="run-name tall" href="${uploadPath(upload)}"><bdi>${upload.name}</bdi></a><span class="run-when">${sizeText(upload.size)}, ${agoText(upload.at, now)}</span></p></li>
`,
  );
  return html`<h3>Sent, not started</h3>
<ul class="things">${items}</ul>
<p class="note">Files that are not started are removed after a day.</p>`;
}
