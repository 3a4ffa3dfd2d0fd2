/** The plan of a file that is not started: its first rows, and how they are read. Pure. */
import { countOf, countText, durationText, sentenceOf } from '../core/figures.js';
import { IDENTIFIER_KINDS, KIND_WORDS } from '../core/identifier.js';
import { sayRowReason } from '../core/row-reason.js';
import type { Draft } from '../jobs/find-files.js';
import type { Choice, UploadPlan } from '../jobs/plan-upload.js';
import { REMOTE_RATE } from '../ledger/pace.js';
import type { Plan } from '../run/plan-file.js';
import { Card, type Fact, Facts, type KeyFigure, KeyFigures, Table } from '../run/report/kit/parts.js';
import type { Viewer } from './gate.js';
import { ChoicesCard, hasChoices, PLAN_FORM, Remedies } from './upload-choices.js';
import { FILL_KEYS, FillCard } from './upload-fills.js';
import { costText, type Found, requestsAtMost, runFieldsOf, StartCard } from './upload-start.js';

/** A file that can be started. `plan`: null while the file is being read. */
export interface ShownDraft {
  readonly draft: Draft;
  readonly choice: Choice;
  readonly plan: UploadPlan | null;
}

/** Returns how a file is read and what it costs at most, or why it cannot be read. */
export function planHeadline(plan: UploadPlan | null): string {
  if (plan === null) return 'The file is being read.';
  const { found, refusal } = plan;
  if (found === null) return sentenceOf(`${refusal?.what}: ${refusal?.subject}`);
  const rows = countOf(found.plan.rows.total, 'row');
  return `${rows}, ${kindsText(found.plan)}: ${costText(found.plan, found.settings.maxRequests)}.`;
}

function kindsText({ identifiers: { byKind } }: Plan): string {
  const counted = IDENTIFIER_KINDS.flatMap((kind) => {
    const count = byKind[kind] ?? 0;
    return count === 0 ? [] : [countOf(count, KIND_WORDS[kind].replace(/s$/, ''), KIND_WORDS[kind])];
  });
  return counted.join(', ') || 'nothing to look up';
}

/** The cards of a plan: how the file is read, what it costs, and the choices. */
export function PlanCards({ shown: { draft, choice, plan }, viewer }: { shown: ShownDraft; viewer: Viewer }) {
  if (plan === null)
    // The script reloads the whole page once there is a plan.
    return (
      <section class="card" data-empty="true">
        <p class="empty">Nothing is spent.</p>
      </section>
    );
  const { found, reading, refusal } = plan;
  const { columns } = reading;
  const planned = found && { choice, found, columns };
  const hasFills = columns.length > 0 && (found !== null || FILL_KEYS.some((key) => choice[key]));
  return (
    <>
      {refusal !== null && (
        <Remedies refusal={refusal} draft={draft} choice={choice} hasColumns={columns.length > 0} />
      )}
      {/* The Enter key presses the first button of a form: this one buys nothing. */}
      <button type="submit" class="unseen default" form={PLAN_FORM} tabindex={-1}>
        Update the plan
      </button>
      {found !== null && <Figures plan={found.plan} rate={found.rate} />}
      <div class={found === null ? 'stack' : 'plan'}>
        {columns.length > 0 && <FirstRows reading={reading} chosen={found?.chosen ?? []} />}
        {found !== null && found.plan.invalid.length > 0 && <InvalidRows plan={found.plan} />}
        {planned && <StartCard {...planned} draft={draft} viewer={viewer} />}
        {hasChoices(choice, plan) && (
          <ChoicesCard
            draft={draft}
            choice={choice}
            reading={reading}
            ownKeys={[...(planned ? runFieldsOf(planned) : []), ...(hasFills ? FILL_KEYS : [])]}
          />
        )}
        {hasFills && <FillCard choice={choice} columns={columns} found={found} />}
        {found !== null && <ReadingCard plan={plan} found={found} />}
      </div>
    </>
  );
}

function Figures({ plan, rate }: { plan: Plan; rate: number | null }) {
  const { rows, identifiers } = plan;
  const requests = requestsAtMost(plan);
  const figures: KeyFigure[] = [
    ['Rows', countText(rows.total), `${countText(rows.asked)} to look up`],
    ['Companies', countText(identifiers.distinct), countOf(rows.duplicates, 'duplicate row')],
    ['Stored', countText(identifiers.stored ?? 0), 'cost nothing'],
    [
      'Time',
      `about ${durationText(Math.max(1, Math.round(requests / (rate ?? REMOTE_RATE))))}`,
      rate === null ? 'as the service answers' : `at ${Math.round(rate * 10) / 10} a second`,
    ],
  ];
  return <KeyFigures figures={figures} />;
}

/** Columns from the left. The columns that are looked up are always shown. */
const COLUMNS_SHOWN = 8;
const CELL_AT_MOST = 80;

function FirstRows(shown: { reading: UploadPlan['reading']; chosen: Found['chosen'] }) {
  const { columns } = shown.reading;
  const kinds = new Map(shown.chosen.map(({ column, kind }) => [column, KIND_WORDS[kind]]));
  const seen = columns
    .map((each, column) => ({ ...each, column, kind: kinds.get(column) }))
    .filter(({ kind, column }) => kind !== undefined || column < COLUMNS_SHOWN);
  const rows = Math.max(0, ...columns.map(({ values }) => values.length));
  const left = columns.length - seen.length;
  return (
    <Card id="rows" title="First rows">
      {/* The keyboard scrolls a wide table, too. */}
      <section class="grid" tabindex={0} aria-label="First rows of the file">
        <table>
          <thead>
            <tr>
              {seen.map(({ name, column, kind }) => (
                <th scope="col" class={kind && 'picked'}>
                  {/* Stands before the list of columns, because the first value counts. */}
                  <button
                    type="submit"
                    form={PLAN_FORM}
                    name="pick"
                    value={`position:${column + 1}`}
                    title="Look this column up"
                  >
                    <bdi>{cut(name === '' ? `column ${column + 1}` : name)}</bdi>
                  </button>
                  {kind !== undefined && <span class="meaning">looked up: {kind}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: rows }, (_, row) => (
              <tr>
                {seen.map(({ values, kind }) => (
                  <td class={kind && 'picked'}>
                    <bdi>{cut(values[row] ?? '')}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows === 0 && <p class="empty">There are no rows below the names of the columns.</p>}
      {left > 0 && <p class="note">{countOf(left, 'other column')} not shown.</p>}
    </Card>
  );
}

function cut(text: string): string {
  const plain = text.trim();
  return plain.length <= CELL_AT_MOST ? plain : `${plain.slice(0, CELL_AT_MOST - 1)}…`;
}

const INVALID_SHOWN = 10;

function InvalidRows({ plan: { rows, input, invalid } }: { plan: Plan }) {
  const shown = invalid.slice(0, INVALID_SHOWN);
  const all = rows.invalid + input.unreadable;
  return (
    <Card id="invalid" title="Rows in question">
      <section class="grid" tabindex={0} aria-label="Rows in question">
        <Table name="listed" columns={[['Line', 'line'], ['In the file'], ['Why it is not looked up']]}>
          {shown.map(({ line, value, reason }) => (
            <tr>
              <td>{countText(line)}</td>
              <td class="invalid">
                <bdi>{cut(value)}</bdi>
              </td>
              <td>{sayRowReason(reason)}</td>
            </tr>
          ))}
        </Table>
      </section>
      <p class="note">
        {shown.length < all && `The first ${shown.length} of ${countOf(all, 'row')}. `}
        They come back as invalid and cost nothing.
      </p>
    </Card>
  );
}

function ReadingCard({ plan: { reading }, found }: { plan: UploadPlan; found: Found }) {
  const { plan, hasHeader } = found;
  const { rows, input, priority } = plan;
  const notes = [...(priority === null ? [] : [priority.sentence]), ...input.warnings];
  const facts: Fact[] = [
    ['Format', <bdi>{input.detected}</bdi>],
    reading.sheet !== null && ['Sheet', <bdi>{reading.sheet}</bdi>],
    ['First row', hasHeader ? 'names of the columns' : 'data'],
    ['Blank or skipped', countText(rows.skipped)],
    ['Invalid', countText(rows.invalid + input.unreadable)],
  ];
  return (
    <Card id="reading" title="How the file is read">
      <p>{sentenceOf(plan.columns)}</p>
      <Facts rows={facts} />
      {notes.map((note) => (
        <p class="note">{sentenceOf(note)}</p>
      ))}
    </Card>
  );
}
