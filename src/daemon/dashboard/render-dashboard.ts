/**
 * The dashboard as HTML: the whole page, its body alone, from which an open page renews its parts, and
 * the sign-in page. Pure.
 *
 * Elements with `data-part` are renewed; the same ones are there whatever the data.
 */

import { clockText } from '../../core/figures.js';
import { hashSource, html, inlineScript, type Markup, trusted } from '../../run/report/markup.js';
import { PAGE_STYLE } from '../../run/report/page-style.js';
import { accountSection } from './account-section.js';
import type { DashboardData, DashboardView } from './dashboard-data.js';
import { DASHBOARD_SCRIPT } from './dashboard-script.js';
import { banners, headlineOf, keyFigures, verdictOf } from './overview.js';
import { runsSection } from './runs-section.js';
import { QUEUE_PATH, queueSection, schedulesSection, waitingSection } from './waiting-sections.js';

/** A square of our colour; inside the page, so that no browser asks for one. */
const FAVICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" rx="4" fill="%2312806e"/%3E%3Cpath d="M4 11V8h2v3zm3 0V5h2v6zm3 0V7h2v4z" fill="%23fff"/%3E%3C/svg%3E';

/** What the dashboard adds to the style sheet of the report, whose colours and cards it shares. */
const DASHBOARD_STYLE = `
.top{display:flex;flex-wrap:wrap;justify-content:space-between;gap:4px 16px;margin:0 0 4px}
.top .eyebrow{margin:0}
.ways a{margin-left:14px}
.verdict.calm,.state.calm{background:var(--blank);color:var(--blank-ink)}
.banner{border-radius:8px;padding:10px 14px;margin:10px 0 0;font-size:14px;overflow-wrap:anywhere}
.banner.warn{background:var(--acceptable-soft);color:var(--acceptable-text)}
.banner.bad{background:var(--poor-soft);color:var(--poor-text)}
main>.card{margin-bottom:16px}
.empty{color:var(--muted);margin:0;overflow-wrap:anywhere}
code{overflow-wrap:anywhere}
.gauge code{white-space:nowrap}
.dot.ours,.dot.stored{background:var(--link)}
.dot.near{background:var(--acceptable)}rect.near{fill:var(--acceptable)}
.dot.over{background:var(--poor)}rect.over{fill:var(--poor)}
rect.stored{fill:var(--link)}
.dot.left{background:var(--blank)}
.big{font-size:26px}
.gauges .card{display:flex;flex-direction:column}
.gauge .canvas-box{flex:none;min-height:0;height:132px;margin-bottom:-58px}
.gauge-number{margin:0 0 14px;text-align:center}
.gauge-number strong{display:block;font-size:26px;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums}
.gauge-number span{color:var(--muted);font-size:13px}
.drawn .plain{display:none}
.plain .bar{height:12px;border-radius:6px;margin:0 0 10px}
.line-box{flex:none;min-height:0;height:152px;margin-bottom:10px}
.lead strong{font-size:19px;font-weight:650;font-variant-numeric:tabular-nums}
.reached{background:var(--acceptable-soft);color:var(--acceptable-text);border-radius:8px;padding:8px 12px}
.runs,.things,.counts{list-style:none;margin:0;padding:0}
.run,.things>li{padding:14px 0 12px;border-top:1px solid var(--line)}
.run:first-child,.things>li:first-child{border-top:0;padding-top:2px}
.run-head{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 10px;margin:0 0 4px}
.run-name{font-size:15px;font-weight:650;overflow-wrap:anywhere;min-width:0}
.run-when{color:var(--muted);font-size:13px;margin-left:auto;white-space:nowrap}
.state{border-radius:99px;padding:1px 10px;font-size:13px;font-weight:600;white-space:nowrap}
.state.good{background:var(--high-soft);color:var(--high-text)}
.state.warn{background:var(--acceptable-soft);color:var(--acceptable-text)}
.state.bad{background:var(--poor-soft);color:var(--poor-text)}
.run-far{margin:0;font-size:14px;font-variant-numeric:tabular-nums}
.run-share{font-weight:650}
.run .bar{height:10px;border-radius:5px}
.counts{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;font-variant-numeric:tabular-nums}
.counts .dot{margin-right:6px}
.why{font-size:14px;margin:6px 0 0;overflow-wrap:anywhere}
.run-id{margin:4px 0 0;overflow-wrap:anywhere}
.run-id code{font-size:12px}
.facts div{justify-content:flex-start;gap:12px;padding:1px 0;font-size:14px}
.facts dt{color:var(--muted);flex:none;width:62px}
.card .facts dd{text-align:left;font-weight:400;min-width:0;overflow-wrap:anywhere}
footer{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:8px 16px}
footer .note{margin:0;min-width:0;flex:1 1 300px}
button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:8px;padding:6px 14px;cursor:pointer}
button:hover{border-color:var(--muted)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.sign-in{max-width:420px;padding-top:12vh}
.sign-in h1{margin-bottom:16px}
.sign-in label{display:block;color:var(--muted);margin-bottom:6px}
.sign-in input[type=password]{width:100%;font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--muted);border-radius:8px;padding:9px 12px}
.sign-in button{margin-top:14px;width:100%;padding:9px;background:var(--ink);color:var(--card);border-color:var(--ink);font-weight:600}
@media (max-width:600px){
.gauge .canvas-box{min-height:0}
.run-when{margin-left:0;flex-basis:100%}
.facts dt{width:48px}
}
`;
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
function policyFor(style: string, scripts: readonly string[]): string {
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
<p class="headline" data-part="headline">${data === null ? 'The engine has not answered yet.' : headlineOf(data)}</p>
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
  return html`<section class="card" data-empty="true"><p class="empty">There is nothing to show until the engine has answered once.</p></section>`;
}

/** `complaint`: why an attempt was refused; null before the first. `next`: the path to go to afterwards. */
export function renderSignIn(next: string, complaint: string | null): Page {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in: brand-enrich</title>
<link rel="icon" href="${FAVICON}">
<style>${trusted(STYLE)}</style>
</head>
<body>
<main class="sign-in">
<form class="card" method="post" action="/sign-in">
<h1>brand-enrich</h1>
<label for="password">Password of the dashboard</label>
<input type="hidden" name="next" value="${next}">
<input type="text" name="user" value="brand-enrich" autocomplete="username" hidden>
<input id="password" type="password" name="password" autocomplete="current-password" required autofocus>
${complaint !== null && html`<p class="banner bad" role="alert">${complaint}</p>`}
<button type="submit">Sign in</button>
<p class="note">It is in BRAND_ENRICH_DASHBOARD_PASSWORD or --dashboard-password-file of the process that serves this page. Without one, the process prints a sign-in link on standard error when it starts.</p>
</form>
</main>
</body>
</html>
`;
  return { html: page.text, policy: policyFor(STYLE, []) };
}
