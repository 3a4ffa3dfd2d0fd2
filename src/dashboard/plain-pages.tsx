/** What the pages of the dashboard share, and those with a form alone: sign-in, question. Pure. */
import { readFileSync } from 'node:fs';
import type { Child, PropsWithChildren } from 'hono/jsx';
import { agoText, momentText } from '../core/figures.js';
import { documentOf, hashSource, Page as PageFrame, policyOf, STYLE } from '../run/report/kit/page.js';
import type { Mark } from '../run/report/kit/parts.js';

/** A square of our colour; inside the page, so that no browser asks for one. */
const ICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect ' +
  'width="16" height="16" rx="4" fill="%2312806e"/%3E%3Cpath d="M4 11V8h2v3zm3 0V5h2v6zm3 ' +
  '0V7h2v4z" fill="%23fff"/%3E%3C/svg%3E';

export const DASHBOARD_STYLE = STYLE + fileText('dashboard.css');

export const DASHBOARD_SCRIPT = fileText('dashboard.js');

function fileText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** `policy`: its `Content-Security-Policy`. */
export type Page = Readonly<ReturnType<typeof page>>;

/** It sends requests only to its own origin, and no other page may frame it. */
function page(title: string, body: Child, head: Child = null, scripts: readonly string[] = []) {
  const more = ["connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'"];
  const icon = <link rel="icon" href={ICON} />;
  return {
    html: documentOf(
      <PageFrame title={title} head={[icon, head]} style={DASHBOARD_STYLE} scripts={scripts}>
        {body}
      </PageFrame>,
    ),
    policy: policyOf({ scripts, style: hashSource(DASHBOARD_STYLE), more }),
  };
}

/**
 * A page with the script. `renewed`: after how many seconds the script renews the parts that have
 * `data-part`, or null for never; without JavaScript the whole page reloads a little later.
 */
export function livePage(title: string, body: Child, by: Sender, renewed: number | null = 5): Page {
  const head = (
    <>
      <meta name="form-token" content={by.formToken} />
      {renewed !== null && (
        <>
          <meta name="renew" content={`${renewed}`} />
          <noscript>
            <meta http-equiv="refresh" content={`${3 * renewed}`} />
          </noscript>
        </>
      )}
    </>
  );
  return page(title, body, head, [DASHBOARD_SCRIPT]);
}

export function runPath(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** Where the page of a file is. `fields`: choices of how it is read. */
export function filePath(id: string, fields: readonly [string, string][] = []): string {
  const query = fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`;
  return `/files/${encodeURIComponent(id)}${query}`;
}

/** Above a title: what the page is about, and the way back. */
export function Top({ children }: PropsWithChildren) {
  return (
    <>
      <SkipLink />
      <p class="top">
        <span class="eyebrow">{children}</span>
        <span class="ways">
          <a href="/">Back to the dashboard</a>
        </span>
      </p>
    </>
  );
}

/** The first stop of the Tab key: on to what the page is about, past what is on each. */
export function SkipLink() {
  return (
    <a class="skip" href="#main">
      Skip to the content
    </a>
  );
}

/** What opens below its summary. `id`: an open page keeps it open. `isOpen`: at first. */
export function Folded(shown: PropsWithChildren<{ id: string; summary: string; isOpen?: boolean }>) {
  return (
    <details id={shown.id} class="folded" open={shown.isOpen === true}>
      <summary>{shown.summary}</summary>
      {shown.children}
    </details>
  );
}

export function NoticeBanner({ notice }: { notice: string | null }) {
  if (notice === null) return null;
  return (
    <p class="banner calm" role="status">
      {notice}
    </p>
  );
}

export function State({ mark: [label, tone] }: { mark: Mark }) {
  return <span class={`state ${tone}`}>{label}</span>;
}

/** Names and values; a name may come twice. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** `form`: the id of a form around which they do not stand. */
export function HiddenFields({ fields, form }: { fields: Fields; form?: string }) {
  return (
    <>
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} form={form} />
      ))}
    </>
  );
}

export interface Sender {
  readonly formToken: string;
}

/** The button of an action, which is posted to `path`. `fields`: sent along. */
export function ActionButton({
  by,
  path,
  fields = [],
  children,
}: PropsWithChildren<{ by: Sender; path: string; fields?: Fields }>) {
  return (
    <form class="action" method="post" action={path}>
      <HiddenFields fields={[...fields, ['token', by.formToken]]} />
      <button type="submit">{children}</button>
    </form>
  );
}

/** A moment in words, by default its age, with date and time for those who want them. */
export function Moment({ at, now, words = agoText(at, now) }: { at: number; now: number; words?: string }) {
  const date = new Date(at);
  // A number from a file of an inbox can be any.
  if (Number.isNaN(date.getTime())) return <>{words}</>;
  const iso = date.toISOString();
  return (
    <time datetime={iso} title={momentText(iso)}>
      {words}
    </time>
  );
}

/** A page without a script that has one card. */
const smallPage = (title: string, card: Child) => page(title, <main class="sign-in">{card}</main>);

/**
 * `complaint`: why an attempt was refused; null before the first. `next`: where to go then.
 * `password` comes from a sign-in link, which only asks for the name; null to ask for it too.
 */
export function renderSignIn(next: string, complaint: string | null, password: string | null = null): Page {
  return smallPage(
    'Sign in: brand-enrich',
    <form class="card" method="post" action="/sign-in">
      <h1>brand-enrich</h1>
      <input type="hidden" name="next" value={next} />
      <label for="user">Your name, shown next to what you do</label>
      <input id="user" type="text" name="user" autocomplete="username" maxlength={60} required autofocus />
      {password === null ? (
        <>
          <label for="password">Password of the dashboard</label>
          <input id="password" type="password" name="password" autocomplete="current-password" required />
        </>
      ) : (
        <input type="hidden" name="password" value={password} />
      )}
      {complaint !== null && (
        <p class="banner bad" role="alert">
          {complaint}
        </p>
      )}
      <button type="submit">Sign in</button>
      {password === null && (
        <>
          <p class="note">Ask the person who set this up for the password or a link.</p>
          <details class="folded">
            <summary>You set this up?</summary>
            <p class="note">
              The password is in BRAND_ENRICH_DASHBOARD_PASSWORD or --dashboard-password-file of the process
              that serves this page. Without one, the process prints a sign-in link on standard error when it
              starts.
            </p>
          </details>
        </>
      )}
    </form>,
  );
}

export function renderNotice(title: string, line: string): Page {
  return smallPage(
    `${title}: brand-enrich`,
    <section class="card">
      <h1>{title}</h1>
      <p>{line}</p>
      <p>
        <a href="/">Back to the dashboard</a>
      </p>
    </section>,
  );
}

/** What is asked before an action. */
export interface Question {
  /** `Resume customers.csv?` */
  readonly title: string;
  readonly lines: readonly string[];
  /** The label of the button that does it. */
  readonly yes: string;
  /** What it says, to be posted with the answer. */
  readonly fields?: Fields;
  /** It cannot be undone: the focus is on the way back. Default false. */
  readonly isFinal?: boolean;
}

/** Asks before an action of this path and form; `back`: where else to go. Needs no script. */
export function renderQuestion(
  { title, lines, yes, fields: said = [], isFinal = false }: Question,
  at: {
    readonly path: string;
    readonly fields: URLSearchParams;
    readonly back: string;
    readonly user: string;
  },
): Page {
  return smallPage(
    `${title} brand-enrich`,
    <form class="card" method="post" action={at.path}>
      <h1>{title}</h1>
      {lines.map((line) => (
        <p>{line}</p>
      ))}
      <HiddenFields fields={[...at.fields, ...said, ['confirmed', 'yes']]} />
      <p class="answers">
        <button type="submit" autofocus={!isFinal}>
          {yes}
        </button>{' '}
        <a href={at.back} autofocus={isFinal}>
          Back
        </a>
      </p>
      <p class="note">
        Logged under the name <bdi>{at.user}</bdi>.
      </p>
    </form>,
  );
}
