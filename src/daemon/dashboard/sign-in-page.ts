/**
 * The page that asks for the password. Pure.
 */
import { html, trusted } from '../../run/report/markup.js';
import { FAVICON } from './dashboard-style.js';
import { type Page, policyFor, STYLE } from './render-dashboard.js';

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
<p class="note">It is in BRAND_ENRICH_DASHBOARD_PASSWORD or --dashboard-password-file of the process that serves this page. Without one, the process tells a sign-in link on standard error when it starts.</p>
</form>
</main>
</body>
</html>
`;
  return { html: page.text, policy: policyFor(STYLE, []) };
}
