/** Uploads as HTML: the card that receives a file, and the page with the plan of one. Pure. */
import type { Settings } from '../../config/settings.js';
import type { ErrorCode } from '../../core/errors.js';
import { agoText, countOf, countText, durationText, moneyText } from '../../core/figures.js';
import { IDENTIFIER_KINDS } from '../../core/identifier.js';
import { KIND_WORDS } from '../../identify/find-column.js';
import type { Plan } from '../../run/plan-file.js';
import { bar, card, type Filling, facts, html, keyFigures, type Markup } from '../../run/report/markup.js';
import { settingsLines } from '../inbox/inbox-verdict.js';
import {
  ANY_COLUMN,
  type Choice,
  choiceOf,
  fieldsOf,
  type ShownColumn,
  type UploadPlan,
} from '../inbox/plan-upload.js';
import type { Upload } from '../inbox/uploads.js';
import { actionButton } from './actions.js';
import type { Session } from './gate.js';
import { ICON, type Page, page } from './plain-pages.js';

/** What the dashboard shows of uploads. */
export interface UploadsView {
  /** The watched folders, absolute. */
  readonly roots: readonly string[];
  /** Received and not started, the newest first. */
  readonly received: readonly Upload[];
}

/** Of its page, with these choices. */
export function uploadPath({ id }: Pick<Upload, 'id'>, fields: readonly [string, string][] = []): string {
  return `/uploads/${id}${fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`}`;
}

/** Renewed parts are inside it, so that a file being chosen or sent is left alone. */
export function uploadCard({ roots, received }: UploadsView, now: number): Markup {
  if (roots.length === 0) {
    return card(
      'upload-card',
      'Enrich a file',
      html`<p class="empty">Files can be sent here once <code>up</code> has an inbox: start it with <code>--inbox DIR</code>.</p>`,
    );
  }
  const [first = ''] = roots;
  const inbox =
    roots.length === 1
      ? html`<input type="hidden" name="inbox" value="0">`
      : html`<label for="upload-inbox">Inbox</label>
<select id="upload-inbox" name="inbox">${roots.map((root, at) => html`<option value="${at}">${root}</option>`)}</select>`;
  const content = html`<form id="upload" class="choices" hidden>
${inbox}
<label for="upload-file">A spreadsheet, CSV, JSON lines or Parquet file; you can also drop it anywhere on this page</label>
<input id="upload-file" type="file" required>
<button type="submit">Send and see the cost</button>
<progress max="1" value="0" hidden aria-label="Sent"></progress>
<p id="upload-said" role="status"></p>
<p id="upload-fault" class="banner bad" role="alert" hidden></p>
<p class="note">Sending a file costs nothing. You see how it is read and what it would cost, and start it then.</p>
</form>
<noscript><p class="empty">Sending a file from this page needs JavaScript. Without it, put the file into <code>${first}/inbox</code>.</p></noscript>
<div data-part="uploads">${received.length > 0 && receivedList(received, now)}</div>`;
  return card('upload-card', 'Enrich a file', content);
}

function receivedList(received: readonly Upload[], now: number): Markup {
  const items = received.map(
    (
      upload,
    ) => html`<li><p class="run-head"><a class="run-name tall" href="${uploadPath(upload)}"><bdi>${upload.name}</bdi></a><span class="run-when">${sizeText(upload.size)}, ${agoText(upload.at, now)}</span></p></li>
`,
  );
  return html`<h3>Sent, not started</h3>
<ul class="things">${items}</ul>
<p class="note">Removed after a day.</p>`;
}

/** `12 MB`, `3 kB`. */
function sizeText(bytes: number): string {
  if (bytes < 1_000) return countOf(bytes, 'byte');
  return bytes < 1_000_000
    ? `${countText(Math.round(bytes / 1_000))} kB`
    : `${countText(Math.round(bytes / 1_000_000))} MB`;
}

/** `at most 3,412 requests, at most 12.50 EUR of overage`. */
export function costText(plan: Plan): string {
  const { spending } = plan;
  const requests = requestsAtMost(plan);
  if (requests === 0)
    return plan.requests.most === 0 ? 'no requests' : 'no requests until quota or budget allow them';
  const overage = spending !== null && spending.overageRequests > 0;
  return `at most ${countOf(requests, 'request')}${overage ? `, at most ${moneyText(spending.maxCost, plan.currency)} of overage` : ''}`;
}

function requestsAtMost({ requests, spending }: Plan): number {
  if (spending === null || spending.withinQuota === null) return requests.most;
  return spending.withinQuota + spending.overageRequests;
}

/** What is known of a file; `plan` null: it is still being read. */
export interface ShownUpload {
  readonly upload: Upload;
  readonly choice: Choice;
  readonly plan: UploadPlan | null;
}

/** For whom the page is made; `notice`: what their last action did. */
interface Viewer extends Pick<Session, 'user' | 'formToken'> {
  readonly notice: string | null;
}

/** The page of one upload. Works without script. */
export function renderUpload(shown: ShownUpload, viewer: Viewer): Page {
  const { upload, plan } = shown;
  const refresh = plan === null && html`<meta http-equiv="refresh" content="2">`;
  const body = html`<header>
<p class="top"><a class="tall" href="/">Dashboard</a></p>
<div class="title"><h1><bdi>${upload.name}</bdi></h1></div>
<p class="headline">${plan === null ? 'The file is being read. Nothing is spent.' : headlineOf(plan)}</p>
${viewer.notice !== null && html`<p class="banner calm" role="status">${viewer.notice}</p>`}
</header>
<main>
${plan !== null && planParts(shown, plan, viewer)}
${plan?.found == null && actionsOf(shown, viewer)}
</main>
<footer class="foot"><p class="note">${sizeText(upload.size)}, for the inbox <code>${upload.root}</code>. A file that is not started is removed after a day. Logged under the name <bdi>${viewer.user}</bdi>.</p></footer>`;
  return page(`${upload.name}: brand-enrich`, [ICON, refresh], body, []);
}

function headlineOf({ found, refusal }: UploadPlan): string {
  if (found === null) return sentence(`${refusal?.what}: ${refusal?.subject}`);
  const { plan } = found;
  const rows = countOf(plan.rows.total, 'row');
  const identifiers = countOf(plan.identifiers.distinct, 'distinct identifier');
  return `${rows}, ${identifiers}: ${costText(plan)}.`;
}

function planParts(shown: ShownUpload, plan: UploadPlan, viewer: Viewer): Markup {
  const { upload, choice } = shown;
  const { found } = plan;
  const way =
    plan.refusal !== null && wayOut(plan.refusal.todo, upload, choice, plan.reading.columns.length > 0);
  return html`${way}
${found !== null && figures(found.plan, found.rate)}
<div class="pair">
${found !== null && understood(plan, found)}
${found !== null && costCard(found, actionsOf(shown, viewer))}
${hasChoices(choice, plan) && choices(upload, choice, plan)}
</div>`;
}

/** What a refused file needs: links that choose it, else the words of the message. */
function wayOut(todo: string, upload: Upload, choice: Choice, hasColumns: boolean): Markup {
  const links = settingsLines(todo)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(
      (values) =>
        !Object.values(values)
          .flat()
          .some((value) => /^NAME:|:KIND$/.test(String(value))),
    )
    .map((values) => {
      const fields = Object.entries(values).flatMap(([key, value]) =>
        [value].flat().map((each): [string, string] => [key, String(each)]),
      );
      const keys = Object.keys(choiceOf(new URLSearchParams(fields)));
      const others = fieldsOf(choice).filter(([key]) => !keys.includes(key));
      return html`<li><a class="tall" href="${uploadPath(upload, [...others, ...fields])}">${chosenText(choiceOf(new URLSearchParams(fields)))}</a></li>
`;
    });
  const isChoice = links.length > 0;
  const content = html`${isChoice ? html`<ul class="things">${links}</ul>` : html`<p>${sentence(todo)}</p>`}
${hasColumns && html`<p>Or choose the column below.</p>`}`;
  return card('way-out', isChoice ? 'Choose one' : 'What to do', content, { more: 'alone' });
}

/** Settings for people who know no flags. */
function chosenText({ column, kind, ...others }: Choice): string {
  const known = IDENTIFIER_KINDS.find((each) => each === kind);
  const kindText = known === undefined ? '' : ` (${KIND_WORDS[known]})`;
  const columns = [column ?? 'the column that the program chooses'].flat().map(columnText);
  const words = Object.entries(others).map(([key, value]) => {
    if (key === 'header')
      return value === 'false' ? 'the first row is data, not a header' : 'the first row is the header';
    if (key === 'skipLines') return `${countOf(Number(value), 'line')} above the header`;
    return `${key} ${[value].flat().join(', ')}`;
  });
  if (column !== undefined || known !== undefined)
    words.unshift(`identifiers from ${columns.join(', then from ')}${kindText}`);
  return sentence(words.join(', ')).slice(0, -1);
}

function columnText(text: string): string {
  const kind = IDENTIFIER_KINDS.find((each) => text.endsWith(`:${each}`));
  const name = kind === undefined ? text : text.slice(0, -kind.length - 1);
  return `${name.replace(/^position:/, 'column ')}${kind === undefined ? '' : ` (${KIND_WORDS[kind]})`}`;
}

function figures({ rows, identifiers, ...plan }: Plan, rate: number | null): Markup {
  const requests = requestsAtMost({ rows, identifiers, ...plan });
  const seconds = rate === null ? null : requests / rate;
  return keyFigures([
    ['Rows', countText(rows.total), `${countText(rows.asked)} with an identifier`],
    ['Identifiers', countText(identifiers.distinct), countOf(rows.duplicates, 'duplicate row')],
    ['Stored', countText(identifiers.stored ?? 0), 'cost nothing'],
    ['Requests', countText(requests), 'at most'],
    [
      'Time',
      seconds === null ? 'unpaced' : durationText(seconds),
      rate === null ? 'as fast as the service answers' : `at ${Math.round(rate * 10) / 10} a second`,
    ],
  ]);
}

type Found = NonNullable<UploadPlan['found']>;

function understood({ reading }: UploadPlan, { plan, chosen, hasHeader }: Found): Markup {
  const { rows, input, reasons } = plan;
  const kinds = Object.entries(plan.identifiers.byKind).map(([kind, count]) => `${countText(count)} ${kind}`);
  const shownReasons = Object.entries(reasons)
    .filter(([, count]) => count > 0)
    .slice(0, 5);
  const content: Filling = [
    html`<p>${sentence(plan.columns)}</p>
${reading.clear.length > 0 && html`<p>${sentence(`its content shows: ${reading.clear.map(clearText).join('; ')}`)}</p>`}
`,
    facts([
      reading.sheet !== null && ['Sheet', html`<bdi>${reading.sheet}</bdi>`],
      ['First row', hasHeader ? 'names of the columns' : 'data'],
      ['Identifiers', kinds.join(', ') || 'none'],
      ['Blank or skipped', countText(rows.skipped)],
      ['Invalid', countText(rows.invalid + input.unreadable)],
    ]),
    shownReasons.length > 0 &&
      html`<p class="note">Why rows are not looked up:</p>
<ul class="note">${shownReasons.map(
        ([reason, count]) => html`<li>${countText(count)} × ${reason}</li>
`,
      )}</ul>`,
    input.examples.length > 0 &&
      html`<p class="note">The first: ${input.examples.map(({ line, reason }) => `line ${line}: ${reason}`).join('; ')}.</p>`,
    plan.priority !== null && html`<p class="note">${sentence(plan.priority.sentence)}</p>`,
    html`<h3>First values</h3>
<table><tbody>${chosen.map(({ column, name, kind }) => valuesRow(name === '' ? `column ${column + 1}` : name, KIND_WORDS[kind], reading.columns[column]?.values ?? []))}</tbody></table>`,
    input.warnings.length > 0 &&
      html`<ul class="note">${input.warnings.map(
        (warning) => html`<li>${sentence(warning)}</li>
`,
      )}</ul>`,
  ];
  return card('understood', 'How the file is read', content);
}

/** What the content of a file made clear. */
function clearText({ header, skipLines, columns }: Partial<Settings>): string {
  if (header === false) return 'the first row is data, not a header';
  if (skipLines !== undefined) return `the header is below ${countOf(skipLines, 'line')}`;
  const names = (columns ?? []).map(({ name }) => columnText(name)).join(', ');
  return `the columns ${names} mean the same; they are tried in turn until one is found`;
}

function valuesRow(name: string, kind: string, values: readonly string[]): Markup {
  const shown = values.map(
    (value) => html`<li><bdi>${value.trim() === '' ? '(blank)' : value}</bdi></li>
`,
  );
  return html`<tr><th class="values-of" scope="row"><bdi>${name}</bdi><span class="meaning">${kind}</span></th><td><ul class="values">${shown}</ul></td></tr>
`;
}

function costCard({ plan }: Found, ends: Markup): Markup {
  const { requests, spending, account } = plan;
  const needed =
    requests.least === requests.most
      ? countText(requests.most)
      : `${countText(requests.least)} to ${countText(requests.most)}`;
  const rows = facts([
    ['Requests needed', needed],
    [
      'Within the quota',
      spending === null || spending.withinQuota === null ? 'unknown' : countText(spending.withinQuota),
    ],
    spending !== null && ['Beyond the quota, at most', countText(spending.overageRequests)],
    spending !== null && ['Overage cost, at most', moneyText(spending.maxCost, plan.currency)],
    spending !== null &&
      spending.deferred !== null &&
      spending.deferred > 0 && ['Must wait', countText(spending.deferred)],
    account !== null && [
      'Account',
      account.limit === null
        ? `${countText(account.used)} used`
        : `${countText(account.used)} of ${countText(account.limit)} used`,
    ],
  ]);
  const share =
    account === null || account.limit === null || account.limit === 0
      ? null
      : Math.min(1, account.used / account.limit);
  const left = share === null ? 0 : Math.min(1 - share, requestsAtMost(plan) / (account?.limit ?? 1));
  return card('cost', 'What it would cost', [
    rows,
    share !== null &&
      bar([
        ['theirs', share],
        ['ours', left],
      ]),
    spending !== null &&
      spending.withinQuota === null &&
      html`<p class="note">The quota is unknown until the service answers a request.</p>`,
    html`<p class="note">Nothing was sent or spent so far. A request whose answer is lost is sent once more.</p>
${(spending?.deferred ?? 0) > 0 && html`<p class="banner warn">${waitText(plan)}</p>`}`,
    ends,
  ]);
}

function waitText(plan: Plan): string {
  const deferred = plan.spending?.deferred ?? 0;
  return `Quota and budget do not cover ${countOf(deferred, 'request')}: the file will wait for the rest, with the results so far, and continue when they allow it.`;
}

/** The position of a single chosen column; null: none, or several. */
function columnAt([said, ...others]: readonly string[], columns: readonly ShownColumn[]): number | null {
  if (said === undefined || others.length > 0) return null;
  const position = /^position:(\d+)$/.exec(said)?.[1];
  if (position !== undefined)
    return columns[Number(position) - 1] === undefined ? null : Number(position) - 1;
  const [at = null, ...more] = columns.flatMap(({ name }, column) => (name === said ? [column] : []));
  return more.length === 0 ? at : null;
}

/** Whether another way of reading it could help. */
function hasChoices(choice: Choice, { reading, refusal }: UploadPlan): boolean {
  const isHopeless = refusal !== null && HOPELESS.includes(refusal.code);
  return !isHopeless || reading.sheets.length > 1 || Object.keys(choice).length > 0;
}

const HOPELESS: readonly ErrorCode[] = ['input-binary', 'input-empty', 'input-missing'];

/** Choices as a form that shows the plan anew. */
function choices(upload: Upload, choice: Choice, { reading }: UploadPlan): Markup {
  const own = ['kind', 'sheet', 'header', 'skipLines'];
  const said = typeof choice.column === 'object' ? choice.column : [];
  const at = columnAt(said, reading.columns);
  const kept = fieldsOf(choice).filter(([key]) => !own.includes(key) && (key !== 'column' || at === null));
  const option = (value: string, label: string, isChosen: boolean) =>
    html`<option value="${value}"${isChosen && html` selected`}>${label}</option>
`;
  const columns = reading.columns.map(({ name, values }, column) => {
    const filled = values.filter((value) => value.trim() !== '');
    const label = [`${column + 1}. ${name}`, ...filled.slice(0, 2)].join(' · ');
    return option(`position:${column + 1}`, label.slice(0, 90), column === at);
  });
  const others = [
    said.length > 0 && at === null && option('', `as chosen: ${said.map(columnText).join(', then ')}`, true),
    option(ANY_COLUMN, 'chosen by the program', said.length === 0),
  ];
  const hasLines = reading.format === null || reading.format === 'csv' || reading.format === 'xlsx';
  const content = html`<form class="choices" method="get" action="${uploadPath(upload)}">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${
  columns.length > 0 &&
  html`<label for="pick">Column of the identifiers</label>
<select id="pick" name="pick">${others}${columns}</select>`
}
<label for="kind">Kind</label>
<select id="kind" name="kind">${option('', 'as the values say', choice.kind === undefined)}${IDENTIFIER_KINDS.map((kind) => option(kind, kind === 'auto' ? 'auto: the service decides' : KIND_WORDS[kind], choice.kind === kind))}</select>
${
  reading.sheets.length > 1 &&
  html`<label for="sheet">Sheet</label>
<select id="sheet" name="sheet">${option('', 'the first one', choice.sheet === undefined)}${reading.sheets.map((sheet) => option(sheet, sheet, choice.sheet === sheet))}</select>`
}
${
  hasLines &&
  html`<label for="skip">Lines above the header</label>
<input id="skip" type="number" name="skipLines" min="0" max="1000000" value="${typeof choice.skipLines === 'string' ? choice.skipLines : ''}" placeholder="0">
<p><input id="header" type="checkbox" name="header" value="false"${choice.header === 'false' && html` checked`}> <label for="header">The first row is data, not a header</label></p>`
}
<button type="submit">Show the plan with these</button>${Object.keys(choice).length > 0 && html` <a href="${uploadPath(upload)}">Start over</a>`}
</form>`;
  return card('choices', 'Read it differently', content);
}

/** The field of the start's form that has the money on its button. */
export const SHOWN_COST = 'shown-cost';

function actionsOf({ upload, choice, plan }: ShownUpload, viewer: Viewer): Markup {
  const path = uploadPath(upload);
  const fields = fieldsOf(choice);
  const found = plan?.found ?? null;
  return html`<div class="ends">
${found !== null && actionButton(viewer, `${path}/start`, `Start: ${costText(found.plan)}`, [...fields, [SHOWN_COST, found.plan.spending?.maxCost ?? ''], ['back', uploadPath(upload, fields)]])}
${actionButton(viewer, `${path}/discard`, 'Discard')}
</div>`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.?]$/.test(trimmed) ? '' : '.'}`;
}
