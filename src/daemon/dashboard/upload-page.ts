/** The page with the plan of an uploaded file. Pure. */
import { withOptionNames } from '../../config/option-names.js';
import type { Settings } from '../../config/settings.js';
import { countOf, countText, durationText, moneyText, sentenceOf, sizeText } from '../../core/figures.js';
import { KIND_WORDS } from '../../identify/find-column.js';
import type { Plan } from '../../run/plan-file.js';
import { bar, card, type Filling, facts, html, keyFigures, type Markup } from '../../run/report/markup.js';
import { type Choice, fieldsOf, type UploadPlan } from '../inbox/plan-upload.js';
import type { Upload } from '../inbox/uploads.js';
import { actionButton } from './actions.js';
import type { Viewer } from './gate.js';
import { ICON, noticeBanner, type Page, page } from './plain-pages.js';
import { choicesCard, columnText, hasChoices, uploadPath, wayOut } from './upload-choices.js';

/**
 * `at most 3,412 requests, at most 12.50 EUR of overage`. What the limits do not cover now is
 * bought when they are raised, because the file waits for that. Pure.
 */
export function costText(plan: Pick<Plan, 'requests' | 'spending' | 'currency'>): string {
  const { spending } = plan;
  const requests = requestsAtMost(plan);
  if (requests === 0)
    return plan.requests.most === 0 ? 'no requests' : 'no requests until quota or budget allow them';
  const overage = spending !== null && spending.overageRequests > 0;
  const later = deferredIn(plan);
  const parts = [
    `at most ${countOf(requests, 'request')}`,
    later > 0 && ` now and ${countText(later)} more when quota or budget allow them`,
    overage && `, at most ${moneyText(spending.maxCost, plan.currency)} of overage`,
  ];
  return parts.filter(Boolean).join('');
}

function deferredIn({ spending }: Pick<Plan, 'spending'>): number {
  return spending?.deferred ?? 0;
}

function requestsAtMost({ requests, spending }: Pick<Plan, 'requests' | 'spending'>): number {
  if (spending === null || spending.withinQuota === null) return requests.most;
  return spending.withinQuota + spending.overageRequests;
}

/** What is known of a file; `plan` null: it is still being read. */
export interface ShownUpload {
  readonly upload: Upload;
  readonly choice: Choice;
  readonly plan: UploadPlan | null;
}

/** The page of one upload. Works without script. */
export function renderUpload(shown: ShownUpload, viewer: Viewer): Page {
  const { upload, plan } = shown;
  const refresh = plan === null && html`<meta http-equiv="refresh" content="2">`;
  const body = html`<header>
<p class="top"><a class="tall" href="/">Dashboard</a></p>
<div class="title"><h1><bdi>${upload.name}</bdi></h1></div>
<p class="headline">${plan === null ? 'The file is being read. Nothing is spent.' : headlineOf(plan)}</p>
${noticeBanner(viewer.notice)}
</header>
<main>
${plan !== null && planParts(shown, plan, viewer)}
${plan?.found == null && actionsOf(shown, viewer)}
</main>
<footer class="foot"><p class="note">${sizeText(upload.size)}, for the inbox <code>${upload.root}</code>. ${upload.failed === undefined ? 'A file that is not started is removed after a day.' : 'A file that is not started stays among the failed ones.'} Logged under the name <bdi>${viewer.user}</bdi>.</p></footer>`;
  return page(`${upload.name}: brand-enrich`, [ICON, refresh], body, []);
}

function headlineOf({ found, refusal }: UploadPlan): string {
  if (found === null) return sentenceOf(withOptionNames(`${refusal?.what}: ${refusal?.subject}`));
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
${hasChoices(choice, plan) && choicesCard(upload, choice, plan)}
</div>`;
}

function figures(plan: Plan, rate: number | null): Markup {
  const { rows, identifiers } = plan;
  const requests = requestsAtMost(plan);
  const seconds = rate === null ? null : requests / rate;
  return keyFigures([
    ['Rows', countText(rows.total), `${countText(rows.asked)} with an identifier`],
    ['Identifiers', countText(identifiers.distinct), countOf(rows.duplicates, 'duplicate row')],
    ['Stored', countText(identifiers.stored ?? 0), 'cost nothing'],
    ['Requests', countText(requests), deferredIn(plan) > 0 ? 'at most, now' : 'at most'],
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
    html`<p>${sentenceOf(withOptionNames(plan.columns))}</p>
${reading.clear.length > 0 && html`<p>${sentenceOf(`its content shows: ${reading.clear.map(clearText).join('; ')}`)}</p>`}
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
    plan.priority !== null &&
      html`<p class="note">${sentenceOf(withOptionNames(plan.priority.sentence))}</p>`,
    html`<h3>First values</h3>
<table><tbody>${chosen.map(({ column, name, kind }) => valuesRow(name === '' ? `column ${column + 1}` : name, KIND_WORDS[kind], reading.columns[column]?.values ?? []))}</tbody></table>`,
    input.warnings.length > 0 &&
      html`<ul class="note">${input.warnings.map(
        (warning) => html`<li>${sentenceOf(withOptionNames(warning))}</li>
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
  return `the columns ${names} mean the same; they are tried in turn until a brand is found`;
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
    deferredIn(plan) > 0 && ['Must wait', countText(deferredIn(plan))],
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
    html`<p class="note">Nothing has been sent or spent. A request whose answer is lost is sent once more.</p>
${deferredIn(plan) > 0 && html`<p class="banner warn">${waitText(plan)}</p>`}`,
    ends,
  ]);
}

function waitText(plan: Plan): string {
  return `Quota and budget do not cover ${countOf(deferredIn(plan), 'request')}. The file will wait with its partial result, and continue when they do.`;
}

/** The field of the start's form that has the money on its button. */
export const SHOWN_COST = 'shown-cost';

function actionsOf({ upload, choice, plan }: ShownUpload, viewer: Viewer): Markup {
  const path = uploadPath(upload);
  const fields = fieldsOf(choice);
  const found = plan?.found ?? null;
  return html`<div class="ends">
${found !== null && actionButton(viewer, `${path}/start`, `Start: ${costText(found.plan)}`, [...fields, [SHOWN_COST, found.plan.spending?.maxCost ?? ''], ['back', uploadPath(upload, fields)]])}
${upload.failed === undefined && actionButton(viewer, `${path}/discard`, 'Discard')}
</div>`;
}
