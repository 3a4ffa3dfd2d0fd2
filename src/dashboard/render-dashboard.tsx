/** The page of the dashboard, whose `data-part` elements are renewed. Pure. */
import { clockText } from '../core/figures.js';
import { Title } from '../run/report/kit/parts.js';
import { accountSection, CHECK_PATH } from './account-section.js';
import { FilesSection } from './files-section.js';
import type { Viewer } from './gate.js';
import type { DashboardData, DashboardView } from './gather-dashboard.js';
import { Banners, Headline, verdictOf } from './overview.js';
import { ActionButton, NoticeBanner, SkipLink } from './plain-pages.js';
import { SchedulesSection } from './schedules-section.js';
import { TechnicalSection } from './technical-section.js';
import { UploadCard } from './upload-card.js';

export function dashboardBody(view: DashboardView, viewer: Viewer) {
  const { user, notice } = viewer;
  const { data, host, now } = view;
  const isPaused = data?.ledger?.isPaused === true;
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
          <div data-part="spending">
            {data !== null && (
              <ActionButton by={viewer} path={isPaused ? '/resume' : '/pause'}>
                {isPaused ? 'Resume spending' : 'Pause all spending'}
              </ActionButton>
            )}
          </div>
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
