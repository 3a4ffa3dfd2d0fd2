/** What an uploaded file would cost, how much of it to buy, and its start. Pure. */
import type { PropsWithChildren } from 'hono/jsx';
import { countOf, countText, moneyText } from '../core/figures.js';
import type { Draft } from '../jobs/find-files.js';
import { type Choice, fieldsOf, type UploadPlan } from '../jobs/plan-upload.js';
import type { FileCap, ShownCaps } from '../jobs/start-file.js';
import type { Plan } from '../run/plan-file.js';
import { Card } from '../run/report/kit/parts.js';
import { priorityValueOf } from '../run/scan/priorities.js';
import { FIELD_LABELS } from '../run/words/page-words.js';
import type { Viewer } from './gate.js';
import { filePath } from './plain-pages.js';
import { Checkbox, type Option, PLAN_FORM, planPath, readingText, Select } from './upload-choices.js';

type CostPlan = Pick<Plan, 'requests' | 'spending'> & { readonly account?: Plan['account'] | undefined };

/** Returns `at most 12 paid lookups, at most 12.50 EUR extra cost`. `cap`: the file's own. Pure. */
export function costText(plan: CostPlan & Pick<Plan, 'currency'>, cap: number | null = null): string {
  const { spending } = plan;
  const requests = requestsAtMost(plan);
  if (isCapped(plan, cap))
    return requests === 0
      ? 'no paid lookups: its cap is used up'
      : `at most ${countOf(requests, 'paid lookup')}, by its cap`;
  if (requests === 0)
    return plan.requests.most === 0 ? 'no paid lookups' : 'no paid lookups until quota or budget allow them';
  // While the quota is unknown, every request could be overage: that sum would only alarm.
  const overage = spending !== null && spending.withinQuota !== null && spending.overageRequests > 0;
  // The file waits until the limits cover these.
  const later = deferredIn(plan);
  const parts = [
    `at most ${countOf(requests, 'paid lookup')}`,
    later > 0 && ` now and ${countText(later)} more when quota or budget allow them`,
    overage && `, at most ${moneyText(spending.maxCost, plan.currency)} extra cost`,
  ];
  return parts.filter(Boolean).join('');
}

/** Returns what a start with a trial or a cap costs at most. */
export function startedText({ plan, settings: { trial, maxRequests } }: Found): string {
  const requests = requestsAtMost(plan);
  const most = Math.min(requests, trial ?? requests, maxRequests ?? requests);
  return most === requests
    ? costText(plan, maxRequests)
    : `at most ${countOf(most, 'paid lookup')}${trial === most ? ' at first' : ''}`;
}

/** True if the file's own cap leaves requests out; earlier starts may have used it up. */
function isCapped(plan: CostPlan, cap: number | null): boolean {
  if (cap === null || deferredIn(plan) === 0) return false;
  const { account } = plan;
  const hasQuota = account?.limit != null && account.used < account.limit;
  return requestsAtMost(plan) >= cap || (hasQuota && requestsAtMost(plan) === 0);
}

function deferredIn({ spending }: Pick<Plan, 'spending'>): number {
  return spending?.deferred ?? 0;
}

export function requestsAtMost({ requests, spending }: Pick<Plan, 'requests' | 'spending'>): number {
  if (spending === null || spending.withinQuota === null) return requests.most;
  return spending.withinQuota + spending.overageRequests;
}

export type Found = NonNullable<UploadPlan['found']>;

type Columns = UploadPlan['reading']['columns'];

interface Planned {
  readonly choice: Choice;
  readonly found: Found;
  readonly columns: Columns;
}

/** The field with the cost that the page showed. */
export const SHOWN_COST = 'shown-cost';

export const SHOWN_READING = 'shown-reading';

const TRIED = 20;

export function StartCard(shown: Planned & { draft: Draft; viewer: Viewer }) {
  const { draft, choice, viewer, found } = shown;
  const { plan } = found;
  const query = new URLSearchParams([
    [SHOWN_COST, plan.spending?.maxCost ?? ''],
    [SHOWN_READING, readingText(choice)],
    ['back', planPath(draft, fieldsOf(choice))],
  ]);
  return (
    <Card id="cost" title="What it costs" more="side">
      <Costs plan={plan} cap={found.settings.maxRequests} />
      {plan.rows.total === 0 ? (
        <p class="banner warn">The file has no rows: there is nothing to start.</p>
      ) : (
        <div class="choices">
          <Options {...shown} />
          <p class="start">
            <button
              type="submit"
              class="main"
              form={PLAN_FORM}
              formmethod="post"
              formaction={`${filePath(draft.id)}/start?${query}`}
              name="token"
              value={viewer.formToken}
            >
              Start
            </button>{' '}
            <output class="muted" data-most={requestsAtMost(plan)}>
              {costText(plan, found.settings.maxRequests)}
            </output>
          </p>
        </div>
      )}
    </Card>
  );
}

function Costs({ plan, cap }: { plan: Plan; cap: number | null }) {
  const { requests, spending, currency } = plan;
  const isUnknown = requests.most > 0 && (spending?.withinQuota ?? null) === null;
  const isOverage = spending !== null && spending.overageRequests > 0;
  const later = countOf(deferredIn(plan), 'lookup');
  const [lack, until] = isCapped(plan, cap)
    ? [`The cap leaves out ${later}`, '']
    : [`Quota and budget do not cover ${later}`, ', and continue when they do'];
  return (
    <>
      <p class="note">
        {isUnknown && 'The quota is known after the first lookup'}
        {isUnknown && isOverage && `: if it is used up, at most ${moneyText(spending.maxCost, currency)}`}
        {isUnknown && '. '}
        Nothing has been sent or spent. A lookup whose answer is lost is sent once more.
      </p>
      {deferredIn(plan) > 0 && (
        <p class="banner warn">
          {lack}. The file will wait with its partial result{until}.
        </p>
      )}
    </>
  );
}

/** Settings with a box: the name, the value of a ticked box, and its words. */
const BOXES = [
  ['format', 'xlsx', 'The result as an Excel workbook'],
  ['sort', 'none', 'The rows in the order of the file, not the best brands first'],
  ['errorsInclude', 'not_found', 'Rows that are not found also into the file of rows without an answer'],
] as const;

/** Returns the settings with a field beside "Start"; a choice that no field can show has none. */
export function runFieldsOf(planned: Planned): readonly string[] {
  const { choice, found } = planned;
  const { plan, settings, format, overage } = found;
  if (plan.rows.total === 0) return [];
  const boxes = BOXES.filter(([name, value]) => choice[name] === undefined || choice[name] === value);
  const fields = [
    (settings.trial !== null || plan.requests.most > TRIED) && 'try',
    'maxRequests',
    overage > 0 && 'maxCost',
    !Array.isArray(choice.priority) && ordersOf(planned).length > 0 && 'priority',
    ...boxes.map(([name]) => (name !== 'format' || format !== 'xlsx') && name),
  ];
  return fields.filter((each) => each !== false);
}

function Options(planned: Planned) {
  const { choice, found } = planned;
  const { plan, settings } = found;
  const fields = runFieldsOf(planned);
  const first = typeof choice.priority === 'string' ? choice.priority : '';
  const offered = ordersOf(planned);
  const isOther = first !== '' && offered.every(([value]) => value !== first);
  const orders = [...(isOther ? [[first, first, true] as const] : []), ...offered];
  const tried = settings.trial ?? TRIED;
  const capOf = (key: 'maxRequests' | 'maxCost'): FileCap => {
    const [own, known] = [choice[key], settings[key]];
    return { own: typeof own === 'string' ? own : null, most: known === null ? null : String(known) };
  };
  const maxCost = fields.includes('maxCost') ? capOf('maxCost') : null;
  const caps = { maxRequests: capOf('maxRequests'), maxCost };
  return (
    <>
      {fields.includes('try') && (
        <Check choice={choice} name="try" value={String(tried)} isOn={settings.trial !== null}>
          Try {countText(tried)} first, for at most {countOf(tried, 'paid lookup')}: you see them, and decide
          about the rest
        </Check>
      )}
      <CapFields caps={caps} currency={plan.currency} form={PLAN_FORM} />
      {fields.includes('priority') && (
        <Select
          id="priority"
          form={PLAN_FORM}
          label={FIELD_LABELS.priority}
          options={[['', 'the top of the file', first === ''], ...orders]}
        />
      )}
      {BOXES.filter(([name]) => fields.includes(name)).map(([name, value, words]) => (
        <Check choice={choice} name={name} value={value} isOn={[settings[name]].flat().includes(value)}>
          {words}
        </Check>
      ))}
    </>
  );
}

/** A box for a setting. What the inbox sets for all its files is shown, and stays. */
function Check(shown: PropsWithChildren<{ choice: Choice; name: string; value: string; isOn: boolean }>) {
  const isFixed = shown.isOn && shown.choice[shown.name] === undefined;
  return (
    <Checkbox name={shown.name} value={shown.value} isOn={shown.isOn} isFixed={isFixed}>
      {shown.children}
      {isFixed && ' (set for this inbox)'}
    </Checkbox>
  );
}

/** The fields for the caps of a file. `form`: the id of a form that they stand outside of. */
export function CapFields(shown: { caps: ShownCaps; currency: string | null; form?: string }) {
  const { caps, currency, form } = shown;
  const field = (name: keyof ShownCaps, label: string, step: string, cap: FileCap) => (
    <div>
      <label for={`run-${name}`}>{label}</label>
      <input
        id={`run-${name}`}
        type="number"
        name={name}
        form={form}
        min="0"
        step={step}
        value={cap.own ?? ''}
        placeholder={cap.most ?? 'no cap'}
      />
    </div>
  );
  const cost = `Extra cost${currency === null ? '' : ` in ${currency}`}, at most`;
  return (
    <div class="fields">
      {field('maxRequests', FIELD_LABELS.maxRequests, '1', caps.maxRequests)}
      {caps.maxCost && field('maxCost', cost, 'any', caps.maxCost)}
    </div>
  );
}

/** True for numbers and dates, which have a highest value. */
function isRanked(cell: string): boolean {
  const value = priorityValueOf(cell);
  return typeof value === 'number' || (typeof value === 'object' && value !== null && /^\d/.test(value.word));
}

/** Returns the columns whose highest values can be looked up first. */
function ordersOf({ choice, found, columns }: Planned): Option[] {
  const chosen = new Set(found.chosen.map(({ column }) => column));
  return columns.flatMap(({ name, values }, column): Option[] => {
    if (
      chosen.has(column) ||
      !values.some(isRanked) ||
      !values.every((cell) => cell.trim() === '' || isRanked(cell))
    )
      return [];
    const value = `position:${column + 1}:desc`;
    const label = `the highest ${name === '' ? `column ${column + 1}` : name}`.slice(0, 60);
    return [[value, label, value === choice.priority]];
  });
}
