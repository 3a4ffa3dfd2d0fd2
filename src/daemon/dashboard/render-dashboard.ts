/** The dashboard as HTML: page and body, whose `data-part` elements are renewed. Pure. */
import { clockText } from '../../core/figures.js';
import { html, inlineScript, type Markup } from '../../run/report/markup.js';
import { accountSection } from './account-section.js';
import { DASHBOARD_SCRIPT } from './dashboard-script.js';
import type { Viewer } from './gate.js';
import type { DashboardView } from './gather-dashboard.js';
import { failedSection } from './job-page.js';
import { banners, figuresOf, headlineOf, verdictOf } from './overview.js';
import { ICON, noticeBanner, type Page, page } from './plain-pages.js';
import { runsSection } from './runs-section.js';
import { uploadCard } from './upload-card.js';
import { UPLOAD_SCRIPT } from './upload-script.js';
import { QUEUE_PATH, queueSection, schedulesSection, waitingSection } from './waiting-sections.js';

/** Without JavaScript the whole page reloads. */
const PLAIN_REFRESH_SECONDS = 15;

/** `chartLibrary`: the minified Chart.js 4 for browsers, as text; empty: no line is drawn. */
export function renderDashboard(view: DashboardView, viewer: Viewer, chartLibrary: string): Page {
  const scripts = [inlineScript(chartLibrary), DASHBOARD_SCRIPT, UPLOAD_SCRIPT];
  return livePage('brand-enrich dashboard', bodyOf(view, viewer), viewer, '/parts', scripts);
}

/** A page that renews what has `data-part` from the path `parts`. */
export function livePage(
  title: string,
  body: Markup,
  viewer: Viewer,
  parts: string,
  scripts: readonly string[],
): Page {
  const head = html`${ICON}
<meta name="form-token" content="${viewer.formToken}">
<meta name="parts" content="${parts}">
<noscript><meta http-equiv="refresh" content="${PLAIN_REFRESH_SECONDS}"></noscript>`;
  return page(title, head, body, scripts);
}

/** The content of the body, without scripts. */
export function renderParts(view: DashboardView, viewer: Viewer): string {
  return bodyOf(view, viewer).text;
}

function bodyOf(view: DashboardView, viewer: Viewer): Markup {
  const { user, notice } = viewer;
  const { data, host, now, uploads } = view;
  const [label, tone] = verdictOf(view);
  const main =
    data === null
      ? // The page asks for itself as a whole once there is something to show.
        html`<section class="card" data-empty="true"><p class="empty">There is no data until the engine has answered once.</p></section>`
      : html`<div class="board">
${runsSection(data, viewer)}
<div class="aside">
${uploadCard(uploads, now)}
${figuresOf(data)}
${accountSection(data, view.currency)}
</div>
<div class="pair">
${waitingSection(data)}
${schedulesSection(data, viewer)}
</div>
</div>
${failedSection(data, viewer)}
${queueSection(data)}`;
  return html`<header>
<p class="top"><span class="eyebrow">brand-enrich on <bdi>${host}</bdi></span><span class="ways"><a href="${QUEUE_PATH}/">Queue</a> <a href="/status.json">JSON</a></span></p>
<div class="title"><h1>Dashboard</h1><span class="verdict ${tone}" data-part="verdict">${label}</span></div>
<p class="headline" data-part="headline">${data === null ? 'The engine has not answered yet.' : headlineOf(data)}</p>
${noticeBanner(notice)}
${banners(view)}
<p class="banner bad" id="silent" hidden></p>
</header>
<main>
${main}
</main>
<footer class="foot">
<p class="note" data-part="stand">${data === null ? clockText(now) : `As of ${clockText(data.at)}, ${data.engine} engine at ${data.address}${data.account === null ? '' : `, account ${data.account}`}.`}</p>
<form class="leave" method="post" action="/sign-out"><span>Signed in as <bdi>${user}</bdi></span> <button type="submit">Sign out</button></form>
</footer>`;
}
