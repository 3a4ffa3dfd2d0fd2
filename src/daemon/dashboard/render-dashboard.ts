/**
 * The dashboard as HTML: the whole page, and its body alone, from which an open page renews its parts. Pure.
 *
 * Elements with `data-part` are what is renewed; the same ones are there whatever the data.
 */
import { hashSource, inlineScript } from '../../run/report/inline-source.js';
import { html, type Markup, trusted } from '../../run/report/markup.js';
import { PAGE_STYLE } from '../../run/report/page-style.js';
import { accountSection } from './account-section.js';
import type { DashboardData, DashboardView } from './dashboard-data.js';
import { DASHBOARD_SCRIPT } from './dashboard-script.js';
import { DASHBOARD_STYLE, FAVICON } from './dashboard-style.js';
import { clockText } from './moment-words.js';
import { banners, headlineOf, keyFigures, verdictOf } from './overview.js';
import { QUEUE_PATH, queueSection } from './queue-section.js';
import { runsSection } from './runs-section.js';
import { schedulesSection } from './schedules-section.js';
import { waitingSection } from './waiting-section.js';

export const STYLE = PAGE_STYLE + DASHBOARD_STYLE;
/** Without script the page is asked for anew as a whole. */
const PLAIN_REFRESH_SECONDS = 15;

export interface Page {
  readonly html: string;
  /** Its `Content-Security-Policy`. */
  readonly policy: string;
}

/** `chartLibrary`: the minified browser build of Chart.js 4, as text; the empty text leaves bars in the gauges' place. */
export function renderDashboard(view: DashboardView, chartLibrary: string): Page {
  const scripts = [inlineScript(chartLibrary), DASHBOARD_SCRIPT];
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>brand-enrich dashboard</title>
<link rel="icon" href="${FAVICON}">
<noscript><meta http-equiv="refresh" content="${PLAIN_REFRESH_SECONDS}"></noscript>
<style>${trusted(STYLE)}</style>
</head>
<body>
${bodyOf(view)}
${scripts.map(
  (script) => html`<script>${trusted(script)}</script>
`,
)}</body>
</html>
`;
  return { html: page.text, policy: policyFor(STYLE, scripts) };
}

/** What stands in the body, without scripts. */
export function renderParts(view: DashboardView): string {
  return bodyOf(view).text;
}

/** Only what stands in the page runs and colours; it asks nobody but us, and nobody frames it. */
export function policyFor(style: string, scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(hashSource).join(' ')}`,
    `style-src ${hashSource(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function bodyOf(view: DashboardView): Markup {
  const { data, host, now } = view;
  const verdict = verdictOf(view);
  return html`<header>
<p class="top"><span class="eyebrow">brand-enrich on <bdi>${host}</bdi></span><span class="ways"><a href="${QUEUE_PATH}/">Queue</a> <a href="/status.json">JSON</a></span></p>
<div class="title"><h1>Dashboard</h1><span class="verdict ${verdict.tone}" data-part="verdict">${verdict.label}</span></div>
<p class="headline" data-part="headline">${data === null ? 'The engine has not been heard yet.' : headlineOf(data)}</p>
${banners(view)}
<p class="banner bad" id="silent" hidden></p>
</header>
<main>
${data === null ? emptyBody() : fullBody(data)}
</main>
<footer>
<p class="note" data-part="stand">${data === null ? clockText(now) : `As of ${clockText(data.at)}, ${data.engine} engine at ${data.address}${data.account === null ? '' : `, account ${data.account}`}.`}</p>
<form class="leave" method="post" action="/sign-out"><button type="submit">Sign out</button></form>
</footer>`;
}

function fullBody(data: DashboardData): Markup {
  return html`${keyFigures(data)}
${accountSection(data)}
${runsSection(data)}
<div class="pair">
${waitingSection(data)}
${schedulesSection(data)}
</div>
${queueSection(data)}`;
}

/** The page asks for itself as a whole once there is something to show. */
function emptyBody(): Markup {
  return html`<section class="card" data-empty="true"><p class="empty">There is nothing to show before the engine has answered once.</p></section>`;
}
