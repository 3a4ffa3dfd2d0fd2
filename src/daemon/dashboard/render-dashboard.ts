/** The dashboard as HTML: page, body (whose `data-part` elements are renewed), sign-in. Pure. */
import { clockText } from '../../core/figures.js';
import { type Filling, html, inlineScript, type Markup, pageOf, policyOf } from '../../run/report/markup.js';
import { accountSection } from './account-section.js';
import { DASHBOARD_SCRIPT } from './dashboard-script.js';
import type { DashboardView } from './gather-dashboard.js';
import { banners, figuresOf, headlineOf, verdictOf } from './overview.js';
import { runsSection } from './runs-section.js';
import { QUEUE_PATH, queueSection, schedulesSection, waitingSection } from './waiting-sections.js';

/** A square of our colour; inside the page, so that no browser asks for one. */
const ICON = html`<link rel="icon" href="${'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" rx="4" fill="%2312806e"/%3E%3Cpath d="M4 11V8h2v3zm3 0V5h2v6zm3 0V7h2v4z" fill="%23fff"/%3E%3C/svg%3E'}">`;

/** Without JavaScript the whole page reloads. */
const PLAIN_REFRESH_SECONDS = 15;

/** `policy`: its `Content-Security-Policy`. */
export type Page = Readonly<ReturnType<typeof page>>;

/** `chartLibrary`: the minified Chart.js 4 for browsers, as text; empty: bars replace gauges. */
export function renderDashboard(view: DashboardView, chartLibrary: string): Page {
  const refresh = html`<noscript><meta http-equiv="refresh" content="${PLAIN_REFRESH_SECONDS}"></noscript>`;
  const scripts = [inlineScript(chartLibrary), DASHBOARD_SCRIPT];
  return page('brand-enrich dashboard', [ICON, '\n', refresh], bodyOf(view), scripts);
}

/** The content of the body, without scripts. */
export function renderParts(view: DashboardView): string {
  return bodyOf(view).text;
}

/** It sends requests only to its own origin, and no other page may frame it. */
function page(title: string, head: Filling, body: Markup, scripts: readonly string[]) {
  const more = ["connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'"];
  return { html: pageOf({ title, head, body, scripts }), policy: policyOf(scripts, more) };
}

function bodyOf(view: DashboardView): Markup {
  const { data, host, now } = view;
  const [label, tone] = verdictOf(view);
  const main =
    data === null
      ? // The page asks for itself as a whole once there is something to show.
        html`<section class="card" data-empty="true"><p class="empty">There is no data until the engine has answered once.</p></section>`
      : html`${figuresOf(data)}
${accountSection(data)}
${runsSection(data)}
<div class="pair">
${waitingSection(data)}
${schedulesSection(data)}
</div>
${queueSection(data)}`;
  return html`<header>
<p class="top"><span class="eyebrow">brand-enrich on <bdi>${host}</bdi></span><span class="ways"><a href="${QUEUE_PATH}/">Queue</a> <a href="/status.json">JSON</a></span></p>
<div class="title"><h1>Dashboard</h1><span class="verdict ${tone}" data-part="verdict">${label}</span></div>
<p class="headline" data-part="headline">${data === null ? 'The engine has not answered yet.' : headlineOf(data)}</p>
${banners(view)}
<p class="banner bad" id="silent" hidden></p>
</header>
<main>
${main}
</main>
<footer class="foot">
<p class="note" data-part="stand">${data === null ? clockText(now) : `As of ${clockText(data.at)}, ${data.engine} engine at ${data.address}${data.account === null ? '' : `, account ${data.account}`}.`}</p>
<form class="leave" method="post" action="/sign-out"><button type="submit">Sign out</button></form>
</footer>`;
}

/** `complaint`: why an attempt was refused; null before the first. `next`: where to go then. */
export function renderSignIn(next: string, complaint: string | null): Page {
  const body = html`<main class="sign-in">
<form class="card" method="post" action="/sign-in">
<h1>brand-enrich</h1>
<label for="password">Password of the dashboard</label>
<input type="hidden" name="next" value="${next}">
<input type="text" name="user" value="brand-enrich" autocomplete="username" hidden>
<input id="password" type="password" name="password" autocomplete="current-password" required autofocus>
${complaint !== null && html`<p class="banner bad" role="alert">${complaint}</p>`}
<button type="submit">Sign in</button>
<p class="note">The password is in BRAND_ENRICH_DASHBOARD_PASSWORD or --dashboard-password-file of the process that serves this page. Without a password, the process prints a sign-in link on standard error when it starts.</p>
</form>
</main>`;
  return page('Sign in: brand-enrich', ICON, body, []);
}
