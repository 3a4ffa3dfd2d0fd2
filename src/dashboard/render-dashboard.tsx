/** The dashboard as HTML: page and body, whose `data-part` elements are renewed. Pure. */
import type { Child } from 'hono/jsx';
import { clockText } from '../core/figures.js';
import { htmlOf } from '../run/report/kit/page.js';
import { Title } from '../run/report/kit/parts.js';
import { accountSection, CHECK_PATH } from './account-section.js';
import { FilesSection } from './files-section.js';
import type { Viewer } from './gate.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';
import { Banners, Headline, verdictOf } from './overview.js';
import {
  ActionButton,
  DASHBOARD_SCRIPT,
  NoticeBanner,
  type Page,
  page,
  type Sender,
  SkipLink,
  UPLOAD_SCRIPT,
} from './plain-pages.js';
import { SchedulesSection } from './schedules-section.js';
import { TechnicalSection } from './technical-section.js';
import { UploadCard } from './upload-card.js';

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

export function renderParts(view: DashboardView, viewer: Viewer): string {
  return htmlOf(bodyOf(view, viewer));
}

function bodyOf(view: DashboardView, viewer: Viewer) {
  const { user, notice } = viewer;
  const { data, host, now } = view;
  return (
    <>
      <SkipLink />
      <div class="said">
        <NoticeBanner notice={notice} />
      </div>
      <header class="front">
        <div class="top">
          <Title mark={verdictOf(view)} isPart>
            Dashboard
          </Title>
          <span class="eyebrow">
            brand-enrich on <bdi>{host}</bdi>
          </span>
          <div data-part="spending">{data !== null && <SpendingButton data={data} viewer={viewer} />}</div>
        </div>
        <Headline view={view} />
        <Banners view={view} viewer={viewer} />
        <p class="banner bad" id="silent" hidden />
      </header>
      <main id="main" tabindex={-1}>
        {data === null ? (
          // The page asks for itself as a whole once there is something to show.
          <section class="card" data-empty="true">
            <p class="empty">There is no data until the engine has answered once.</p>
          </section>
        ) : (
          <Sections view={{ ...view, data }} viewer={viewer} />
        )}
      </main>
      <footer class="foot">
        <p class="note" data-part="stand">
          {data === null ? clockText(now) : `As of ${clockText(data.at)}.`}
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

/** What people come for first: their files, then money, then the machine. */
function Sections({ view, viewer }: { view: DashboardView & { data: DashboardData }; viewer: Viewer }) {
  const { data } = view;
  const check = view.canCheck && (
    <ActionButton by={viewer} path={CHECK_PATH} fields={[['back', '/#quota']]}>
      Check the quota
    </ActionButton>
  );
  return (
    <>
      <UploadCard uploads={view.uploads} />
      <FilesSection view={view} viewer={viewer} />
      {accountSection(data, view.currency, check)}
      <SchedulesSection data={data} viewer={viewer} />
      <TechnicalSection data={data} />
    </>
  );
}

/** The button that stops all spending, or allows it again. */
function SpendingButton({ data, viewer }: { data: DashboardData; viewer: Sender }) {
  return data.ledger?.isPaused === true ? (
    <ActionButton by={viewer} path="/resume">
      Resume spending
    </ActionButton>
  ) : (
    <ActionButton by={viewer} path="/pause">
      Pause all spending
    </ActionButton>
  );
}
