/** The page with the plan of an uploaded file. Pure. */

import type { PropsWithChildren } from 'hono/jsx';
import { commonestOf } from '../../core/counter.js';
import { countOf, countText, durationText, moneyText, sentenceOf, sizeText } from '../../core/figures.js';
import { sayRowReason } from '../../core/row-reason.js';
import { KIND_WORDS } from '../../identify/find-column.js';
import { type Choice, fieldsOf, type UploadPlan } from '../../jobs/plan-upload.js';
import type { Upload } from '../../jobs/uploads.js';
import { Bar, Card, type Fact, Facts, type KeyFigure, KeyFigures, Title } from '../../pages/parts.js';
import type { Plan } from '../../run/plan-file.js';
import type { Viewer } from './gate.js';
import { ActionButton, NoticeBanner, type Page, page, SkipLink } from './plain-pages.js';
import { ChoicesCard, hasChoices, Remedies, uploadPath } from './upload-choices.js';

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
  const body = (
    <>
      <header>
        <SkipLink />
        <p class="top">
          <a class="tall" href="/">
            Dashboard
          </a>
        </p>
        <Title>
          <bdi>{upload.name}</bdi>
        </Title>
        <p class="headline">
          {plan === null ? 'The file is being read. Nothing is spent.' : headlineOf(plan)}
        </p>
        <NoticeBanner notice={viewer.notice} />
      </header>
      <main id="main" tabindex={-1}>
        {plan !== null && <PlanParts shown={shown} plan={plan} viewer={viewer} />}
        {plan?.found == null && <Ends shown={shown} viewer={viewer} />}
      </main>
      <footer class="foot">
        <p class="note">
          {sizeText(upload.size)}, for the inbox <code>{upload.root}</code>.{' '}
          {upload.failed === undefined
            ? 'A file that is not started is removed after a day.'
            : 'A file that is not started stays among the failed ones.'}{' '}
          Logged under the name <bdi>{viewer.user}</bdi>.
        </p>
      </footer>
    </>
  );
  const head = plan === null && <meta http-equiv="refresh" content="2" />;
  return page(`${upload.name}: brand-enrich`, body, { head });
}

function headlineOf({ found, refusal }: UploadPlan): string {
  if (found === null) return sentenceOf(`${refusal?.what}: ${refusal?.subject}`);
  const { plan } = found;
  const rows = countOf(plan.rows.total, 'row');
  const identifiers = countOf(plan.identifiers.distinct, 'distinct identifier');
  return `${rows}, ${identifiers}: ${costText(plan)}.`;
}

function PlanParts({ shown, plan, viewer }: { shown: ShownUpload; plan: UploadPlan; viewer: Viewer }) {
  const { upload, choice } = shown;
  const { found, reading, refusal } = plan;
  return (
    <>
      {refusal !== null && (
        <Remedies refusal={refusal} upload={upload} choice={choice} hasColumns={reading.columns.length > 0} />
      )}
      {found !== null && <Figures plan={found.plan} rate={found.rate} />}
      <div class="pair">
        {found !== null && <ReadingCard plan={plan} found={found} />}
        {found !== null && (
          <CostCard plan={found.plan}>
            <Ends shown={shown} viewer={viewer} />
          </CostCard>
        )}
        {hasChoices(choice, plan) && <ChoicesCard upload={upload} choice={choice} reading={reading} />}
      </div>
    </>
  );
}

function Figures({ plan, rate }: { plan: Plan; rate: number | null }) {
  const { rows, identifiers } = plan;
  const requests = requestsAtMost(plan);
  const figures: KeyFigure[] = [
    ['Rows', countText(rows.total), `${countText(rows.asked)} with an identifier`],
    ['Identifiers', countText(identifiers.distinct), countOf(rows.duplicates, 'duplicate row')],
    ['Stored', countText(identifiers.stored ?? 0), 'cost nothing'],
    ['Requests', countText(requests), deferredIn(plan) > 0 ? 'at most, now' : 'at most'],
    rate === null
      ? ['Time', 'unpaced', 'as fast as the service answers']
      : ['Time', durationText(requests / rate), `at ${Math.round(rate * 10) / 10} a second`],
  ];
  return <KeyFigures figures={figures} />;
}

type Found = NonNullable<UploadPlan['found']>;

function ReadingCard({ plan: { reading }, found }: { plan: UploadPlan; found: Found }) {
  const { plan, chosen, hasHeader } = found;
  const { rows, input, reasons } = plan;
  const kinds = Object.entries(plan.identifiers.byKind).map(([kind, count]) => `${countText(count)} ${kind}`);
  const shownReasons = commonestOf([...reasons.invalid, ...reasons.skipped], 5);
  const facts: Fact[] = [
    reading.sheet !== null && ['Sheet', <bdi>{reading.sheet}</bdi>],
    ['First row', hasHeader ? 'names of the columns' : 'data'],
    ['Identifiers', kinds.join(', ') || 'none'],
    ['Blank or skipped', countText(rows.skipped)],
    ['Invalid', countText(rows.invalid + input.unreadable)],
  ];
  return (
    <Card id="reading" title="How the file is read">
      <p>{sentenceOf(plan.columns)}</p>
      <Facts rows={facts} />
      {shownReasons.length > 0 && (
        <>
          <p class="note">Why rows are not looked up:</p>
          <Notes
            lines={shownReasons.map(({ value, count }) => `${countText(count)} × ${sayRowReason(value)}`)}
          />
        </>
      )}
      {input.examples.length > 0 && (
        <p class="note">
          The first: {input.examples.map(({ line, reason }) => `line ${line}: ${reason}`).join('; ')}.
        </p>
      )}
      {plan.priority !== null && <p class="note">{sentenceOf(plan.priority.sentence)}</p>}
      <h3>First values</h3>
      <table>
        <tbody>
          {chosen.map(({ column, name, kind }) => (
            <ValuesRow
              name={name === '' ? `column ${column + 1}` : name}
              kind={KIND_WORDS[kind]}
              values={reading.columns[column]?.values ?? []}
            />
          ))}
        </tbody>
      </table>
      {input.warnings.length > 0 && <Notes lines={input.warnings.map(sentenceOf)} />}
    </Card>
  );
}

function Notes({ lines }: { lines: readonly string[] }) {
  return (
    <ul class="note">
      {lines.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  );
}

function ValuesRow({ name, kind, values }: { name: string; kind: string; values: readonly string[] }) {
  return (
    <tr>
      <th class="values-of" scope="row">
        <bdi>{name}</bdi>
        <span class="meaning">{kind}</span>
      </th>
      <td>
        <ul class="values">
          {values.map((value) => (
            <li>
              <bdi>{value.trim() === '' ? '(blank)' : value}</bdi>
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}

/** `children`: what can be done. */
function CostCard({ plan, children }: PropsWithChildren<{ plan: Plan }>) {
  const { requests, spending, account } = plan;
  const limit = account?.limit ?? null;
  const needed =
    requests.least === requests.most
      ? countText(requests.most)
      : `${countText(requests.least)} to ${countText(requests.most)}`;
  const within = spending?.withinQuota ?? null;
  const share =
    account === null || !limit
      ? null
      : { used: Math.min(1, account.used / limit), asked: requestsAtMost(plan) / limit };
  const rows: Fact[] = [
    ['Requests needed', needed],
    ['Within the quota', within === null ? 'unknown' : countText(within)],
    spending !== null && ['Beyond the quota, at most', countText(spending.overageRequests)],
    spending !== null && ['Overage cost, at most', moneyText(spending.maxCost, plan.currency)],
    deferredIn(plan) > 0 && ['Must wait', countText(deferredIn(plan))],
    account !== null && [
      'Account',
      limit === null
        ? `${countText(account.used)} used`
        : `${countText(account.used)} of ${countText(limit)} used`,
    ],
  ];
  return (
    <Card id="cost" title="What it would cost">
      <Facts rows={rows} />
      {share !== null && (
        <Bar
          parts={[
            ['theirs', share.used],
            ['ours', Math.min(1 - share.used, share.asked)],
          ]}
        />
      )}
      {spending !== null && within === null && (
        <p class="note">The quota is unknown until the service answers a request.</p>
      )}
      <p class="note">Nothing has been sent or spent. A request whose answer is lost is sent once more.</p>
      {deferredIn(plan) > 0 && <p class="banner warn">{waitText(plan)}</p>}
      {children}
    </Card>
  );
}

function waitText(plan: Plan): string {
  return `Quota and budget do not cover ${countOf(deferredIn(plan), 'request')}. The file will wait with its partial result, and continue when they do.`;
}

/** The field of the start's form that has the money on its button. */
export const SHOWN_COST = 'shown-cost';

function Ends({ shown: { upload, choice, plan }, viewer }: { shown: ShownUpload; viewer: Viewer }) {
  const path = uploadPath(upload);
  const chosen = fieldsOf(choice);
  const found = plan?.found ?? null;
  return (
    <div class="ends">
      {found !== null && (
        <ActionButton
          by={viewer}
          path={`${path}/start`}
          fields={[
            ...chosen,
            [SHOWN_COST, found.plan.spending?.maxCost ?? ''],
            ['back', uploadPath(upload, chosen)],
          ]}
        >
          Start: {costText(found.plan)}
        </ActionButton>
      )}
      {upload.failed === undefined && (
        <ActionButton by={viewer} path={`${path}/discard`}>
          Discard
        </ActionButton>
      )}
    </div>
  );
}
