/** The dashboard as HTML: page and body, whose `data-part` elements are renewed. Pure. */

import type { Child } from 'hono/jsx';
import { agoText, clockText, sizeText } from '../../core/figures.js';
import type { Upload } from '../../jobs/uploads.js';
import { htmlOf } from '../../pages/page.js';
import { Card, Title } from '../../pages/parts.js';
import { accountSection, CHECK_PATH } from './account-section.js';
import type { Viewer } from './gate.js';
import type { DashboardData, DashboardView, UploadsView } from './gather-dashboard.js';
import { FailedSection } from './job-page.js';
import { Banners, Figures, headlineOf, verdictOf } from './overview.js';
import {
  ActionButton,
  DASHBOARD_SCRIPT,
  ItemHead,
  NoticeBanner,
  type Page,
  page,
  UPLOAD_SCRIPT,
} from './plain-pages.js';
import { RunsSection } from './runs-section.js';
import { uploadPath } from './upload-choices.js';
import { QUEUE_PATH, QueueSection, SchedulesSection, WaitingSection } from './waiting-sections.js';

/** Without JavaScript the whole page reloads. */
const PLAIN_REFRESH_SECONDS = 15;

export function renderDashboard(view: DashboardView, viewer: Viewer): Page {
  const scripts = [DASHBOARD_SCRIPT, UPLOAD_SCRIPT];
  return livePage('brand-enrich dashboard', bodyOf(view, viewer), viewer, '/parts', scripts);
}

/** A page that renews what has `data-part` from the path `parts`. */
export function livePage(
  title: string,
  body: Child,
  viewer: Viewer,
  parts: string,
  scripts: readonly string[],
): Page {
  const head = (
    <>
      <meta name="form-token" content={viewer.formToken} />
      <meta name="parts" content={parts} />
      <noscript>
        <meta http-equiv="refresh" content={String(PLAIN_REFRESH_SECONDS)} />
      </noscript>
    </>
  );
  return page(title, body, { head, scripts });
}

/** The content of the body, without scripts. */
export function renderParts(view: DashboardView, viewer: Viewer): string {
  return htmlOf(bodyOf(view, viewer));
}

function bodyOf(view: DashboardView, viewer: Viewer) {
  const { user, notice } = viewer;
  const { data, host, now } = view;
  const of = data === null || data.account === null ? '' : `, account ${data.account}`;
  return (
    <>
      <header>
        <p class="top">
          <span class="eyebrow">
            brand-enrich on <bdi>{host}</bdi>
          </span>
          <span class="ways">
            <a href={`${QUEUE_PATH}/`}>Queue</a> <a href="/status.json">JSON</a>
          </span>
        </p>
        <Title mark={verdictOf(view)} isPart>
          Dashboard
        </Title>
        <p class="headline" data-part="headline">
          {data === null ? 'The engine has not answered yet.' : headlineOf(data)}
        </p>
        <NoticeBanner notice={notice} />
        <Banners view={view} />
        <p class="banner bad" id="silent" hidden />
      </header>
      <main>
        {data === null ? (
          // The page asks for itself as a whole once there is something to show.
          <section class="card" data-empty="true">
            <p class="empty">There is no data until the engine has answered once.</p>
          </section>
        ) : (
          <Sections view={view} data={data} viewer={viewer} />
        )}
      </main>
      <footer class="foot">
        <p class="note" data-part="stand">
          {data === null
            ? clockText(now)
            : `As of ${clockText(data.at)}, ${data.engine} engine at ${data.address}${of}.`}
        </p>
        <form class="leave" method="post" action="/sign-out">
          <span>
            Signed in as <bdi>{user}</bdi>
          </span>{' '}
          <button type="submit">Sign out</button>
        </form>
      </footer>
    </>
  );
}

function Sections(shown: { view: DashboardView; data: DashboardData; viewer: Viewer }) {
  const { view, data, viewer } = shown;
  const check = view.canCheck && (
    <ActionButton by={viewer} path={CHECK_PATH}>
      Check the quota
    </ActionButton>
  );
  return (
    <>
      <div class="board">
        <RunsSection data={data} viewer={viewer} />
        <div class="aside">
          <UploadCard uploads={view.uploads} now={view.now} />
          <Figures data={data} />
          {accountSection(data, view.currency, check)}
        </div>
        <div class="pair">
          <WaitingSection data={data} />
          <SchedulesSection data={data} viewer={viewer} />
        </div>
      </div>
      <FailedSection data={data} viewer={viewer} />
      <QueueSection data={data} />
    </>
  );
}

/** Renewed parts are inside it, so that a file being chosen or sent is left alone. */
function UploadCard({ uploads: { roots, received }, now }: { uploads: UploadsView; now: number }) {
  const [first = ''] = roots;
  return (
    <Card id="upload-card" title="Enrich a file">
      {roots.length === 0 ? (
        <p class="empty">
          Files can be sent here once <code>up</code> has an inbox: start it with <code>--inbox DIR</code>.
        </p>
      ) : (
        <>
          <form id="upload" class="choices" hidden>
            {roots.length === 1 ? (
              <input type="hidden" name="inbox" value="0" />
            ) : (
              <>
                <label for="upload-inbox">Inbox</label>
                <select id="upload-inbox" name="inbox">
                  {roots.map((root, at) => (
                    <option value={at}>{root}</option>
                  ))}
                </select>
              </>
            )}
            <label for="upload-file">
              A spreadsheet, CSV, JSON lines or Parquet file; you can also drop it anywhere on this page
            </label>{' '}
            <input id="upload-file" type="file" required />{' '}
            <button type="submit">Send and see the cost</button>
            <progress max="1" value="0" hidden aria-label="Sent" />
            <p id="upload-status" role="status" />
            <p id="upload-fault" class="banner bad" role="alert" hidden />
            <p class="note">
              Sending a file costs nothing: you see how it is read and what it would cost before you start it.
            </p>
          </form>
          <noscript>
            <p class="empty">
              Sending a file from this page needs JavaScript. Without it, put the file into{' '}
              <code>{first}/inbox</code>.
            </p>
          </noscript>
          <div data-part="uploads">
            {received.length > 0 && <ReceivedList received={received} now={now} />}
          </div>
        </>
      )}
    </Card>
  );
}

function ReceivedList({ received, now }: { received: readonly Upload[]; now: number }) {
  return (
    <>
      <h3>Sent, not started</h3>
      <ul class="things">
        {received.map((upload) => (
          <li>
            <ItemHead
              name={upload.name}
              path={uploadPath(upload)}
              when={`${sizeText(upload.size)}, ${agoText(upload.at, now)}`}
            />
          </li>
        ))}
      </ul>
      <p class="note">Files that are not started are removed after a day.</p>
    </>
  );
}
