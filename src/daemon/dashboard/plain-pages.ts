/** What the pages of the dashboard share, and those with a form alone: sign-in, question. Pure. */
import { agoText, momentText } from '../../core/figures.js';
import { type Filling, html, type Markup, pageOf, policyOf } from '../../run/report/markup.js';

/** A square of our colour; inside the page, so that no browser asks for one. */
export const ICON = html`<link rel="icon" href="${'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" rx="4" fill="%2312806e"/%3E%3Cpath d="M4 11V8h2v3zm3 0V5h2v6zm3 0V7h2v4z" fill="%23fff"/%3E%3C/svg%3E'}">`;

/** `policy`: its `Content-Security-Policy`. */
export type Page = Readonly<ReturnType<typeof page>>;

/** It sends requests only to its own origin, and no other page may frame it. */
export function page(title: string, head: Filling, body: Markup, scripts: readonly string[]) {
  const more = ["connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'"];
  return { html: pageOf({ title, head, body, scripts }), policy: policyOf(scripts, more) };
}

/** Where the page of a run is. */
export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** What the last action did; null: nothing is said. */
export function noticeBanner(notice: string | null): Markup | false {
  return notice !== null && html`<p class="banner calm" role="status">${notice}</p>`;
}

export function hiddenFields(pairs: readonly (readonly [name: string, value: string])[]): Markup {
  return html`${pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** A moment in words, by default its age, with date and time for those who want them. */
export function timeText(at: number, now: number, words = agoText(at, now)): Markup {
  const date = new Date(at);
  // A number from a file of an inbox can be any.
  if (Number.isNaN(date.getTime())) return html`${words}`;
  const iso = date.toISOString();
  return html`<time datetime="${iso}" title="${momentText(iso)}">${words}</time>`;
}

/**
 * `complaint`: why an attempt was refused; null before the first. `next`: where to go then.
 * `password`: of a sign-in link, which leaves only the name to ask for; null: it is asked for.
 */
export function renderSignIn(next: string, complaint: string | null, password: string | null = null): Page {
  const asked = html`<label for="password">Password of the dashboard</label>
<input id="password" type="password" name="password" autocomplete="current-password" required>`;
  const known = html`<input type="hidden" name="password" value="${password ?? ''}">`;
  const body = html`<main class="sign-in">
<form class="card" method="post" action="/sign-in">
<h1>brand-enrich</h1>
<input type="hidden" name="next" value="${next}">
<label for="user">Your name, for the log</label>
<input id="user" type="text" name="user" autocomplete="username" maxlength="60" required autofocus>
${password === null ? asked : known}
${complaint !== null && html`<p class="banner bad" role="alert">${complaint}</p>`}
<button type="submit">Sign in</button>
${
  password === null &&
  html`<p class="note">The password is in BRAND_ENRICH_DASHBOARD_PASSWORD or --dashboard-password-file of the process that serves this page. Without a password, the process prints a sign-in link on standard error when it starts.</p>
`
}</form>
</main>`;
  return page('Sign in: brand-enrich', ICON, body, []);
}

/** A page that has a sentence, and the way back. */
export function renderNotice(title: string, line: string): Page {
  const body = html`<main class="sign-in">
<section class="card">
<h1>${title}</h1>
<p>${line}</p>
<p><a href="/">Back to the dashboard</a></p>
</section>
</main>`;
  return page(`${title}: brand-enrich`, ICON, body, []);
}

/** What is asked before an action. */
export interface Question {
  /** `Resume customers.csv?` */
  readonly title: string;
  readonly lines: readonly string[];
  /** Of the button that does it. */
  readonly yes: string;
}

/** Asks before an action of this path and form; `back`: where else to go. Needs no script. */
export function renderQuestion(
  { title, lines, yes }: Question,
  at: {
    readonly path: string;
    readonly fields: URLSearchParams;
    readonly back: string;
    readonly user: string;
  },
): Page {
  const { path, fields, back, user } = at;
  const body = html`<main class="sign-in">
<form class="card" method="post" action="${path}">
<h1>${title}</h1>
${lines.map((line) => html`<p>${line}</p>`)}
${hiddenFields([...fields, ['confirmed', 'yes']])}
<p class="answers"><button type="submit" autofocus>${yes}</button> <a href="${back}">Back</a></p>
<p class="note">Logged under the name <bdi>${user}</bdi>.</p>
</form>
</main>`;
  return page(`${title} brand-enrich`, ICON, body, []);
}
