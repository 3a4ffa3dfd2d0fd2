/** Choices of how an uploaded file is read: in words, as links, as a form. Pure. */
import type { PropsWithChildren } from 'hono/jsx';
import type { ErrorCode } from '../core/errors.js';
import { sentenceOf } from '../core/figures.js';
import { IDENTIFIER_KINDS, KIND_WORDS } from '../core/identifier.js';
import type { Draft } from '../jobs/find-files.js';
import {
  ANY_COLUMN,
  type Choice,
  choiceOf,
  fieldsOf,
  halfCondition,
  type ShownColumn,
  type UploadPlan,
} from '../jobs/plan-upload.js';
import { Card } from '../run/report/kit/parts.js';
import { FIELD_LABELS, meaningOf } from '../run/words/page-words.js';
import { readCondition } from '../settings/column-value.js';
import { filePath, HiddenFields } from './plain-pages.js';

export function planPath(
  { id, place }: Pick<Draft, 'id' | 'place'>,
  fields: readonly [string, string][] = [],
): string {
  return filePath(id, place === 'drafts' ? fields : [[READ, '1'], ...fields]);
}

/** The field in the address of a failed file that shows its plan. */
export const READ = 'read';

/** Links that solve what a refused file needs, or the advice of the message. */
export function Remedies(shown: {
  refusal: NonNullable<UploadPlan['refusal']>;
  draft: Draft;
  choice: Choice;
  hasColumns: boolean;
}) {
  const { refusal, draft, choice, hasColumns } = shown;
  const links = refusal.remedies.map((values) => {
    const fields = Object.entries(values).flatMap(([key, value]) =>
      [value].flat().map((each): [string, string] => [key, String(each)]),
    );
    const chosen = choiceOf(new URLSearchParams(fields));
    const others = fieldsOf(choice).filter(([key]) => !Object.hasOwn(chosen, key));
    return (
      <li>
        <a class="tall" href={planPath(draft, [...others, ...fields])}>
          {chosenText(chosen)}
        </a>
      </li>
    );
  });
  const isChoice = links.length > 0;
  return (
    <Card id="remedies" title={isChoice ? 'Choose one' : 'What to do'} more="alone">
      {isChoice ? <ul class="things">{links}</ul> : <p>{sentenceOf(refusal.todo)}</p>}
      {hasColumns && refusal.code.startsWith('column') && <p>Or choose the column below.</p>}
    </Card>
  );
}

const MIXTURE = 'a mixture: each value is judged alone';

function chosenText({ column, kind, ...others }: Choice): string {
  const known = IDENTIFIER_KINDS.find((each) => each === kind);
  const kindText = known === undefined ? '' : ` (${known === 'auto' ? MIXTURE : KIND_WORDS[known]})`;
  const columns = [column ?? 'the column that is chosen automatically'].flat().map(columnText);
  const words = Object.entries(others).map(([key, value]) => meaningOf(key, [value].flat().join(', ')));
  if (column !== undefined) words.unshift(`companies from ${columns.join(OR_FROM)}${kindText}`);
  else if (known !== undefined) words.push(`these are ${KIND_WORDS[known]}`);
  return sentenceOf(words.join(': ')).slice(0, -1);
}

/** Stands between columns: the first column with a value is looked up. */
const OR_FROM = ', and where it has none, from ';

function columnText(text: string): string {
  const kind = IDENTIFIER_KINDS.find((each) => text.endsWith(`:${each}`));
  const name = kind === undefined ? text : text.slice(0, -kind.length - 1);
  return `${name.replace(/^position:/, 'column ')}${kind === undefined ? '' : ` (${KIND_WORDS[kind]})`}`;
}

/** Returns the position of a column that is chosen alone, or null without one or with several. */
export function columnAt(
  [chosen, ...others]: readonly string[],
  columns: readonly ShownColumn[],
): number | null {
  if (chosen === undefined || others.length > 0) return null;
  const position = Number(/^position:(\d+)$/.exec(chosen)?.[1]) - 1;
  if (!Number.isNaN(position)) return columns[position] === undefined ? null : position;
  const [at = null, ...more] = columns.flatMap(({ name }, column) => (name === chosen ? [column] : []));
  return more.length === 0 ? at : null;
}

export function hasChoices(choice: Choice, { reading, refusal }: UploadPlan): boolean {
  return !isHopeless(refusal?.code) || reading.sheets.length > 1 || Object.keys(choice).length > 0;
}

const HOPELESS: readonly ErrorCode[] = ['input-binary', 'input-empty', 'input-missing'];

/** True if no choice makes a file readable that failed with this code, such as a PDF. */
export const isHopeless = (code: string | undefined) => HOPELESS.some((each) => each === code);

/** The id of the page's form, whose fields are in several cards. */
export const PLAN_FORM = 'plan-form';

/** Settings that leave the reading as it is: how much is bought, in which order, what comes out. */
const RUN_KEYS = 'try maxRequests maxCost priority format sort errorsInclude fill fillOver'.split(' ');

/** Returns a text that is equal for choices that read the file in the same way. */
export function readingText(choice: Choice): string {
  return new URLSearchParams(fieldsOf(choice).filter(([key]) => !RUN_KEYS.includes(key))).toString();
}

/** Choices in the form that shows the plan anew. `ownKeys`: settings with fields on other cards. */
export function ChoicesCard(shown: {
  draft: Draft;
  choice: Choice;
  reading: UploadPlan['reading'];
  ownKeys: readonly string[];
}) {
  const { draft, choice, reading, ownKeys } = shown;
  const condition = conditionOf(choice, reading.columns);
  const own = ['kind', 'sheet', 'header', 'skipLines', ...ownKeys];
  if (condition !== 'other') own.push('where');
  const chosen = typeof choice.column === 'object' ? choice.column : [];
  const at = columnAt(chosen, reading.columns);
  const kept = fieldsOf(choice).filter(([key]) => !own.includes(key) && (key !== 'column' || at === null));
  const columns = reading.columns.map(({ name, values }, column): Option => {
    const filled = values.filter((value) => value.trim() !== '');
    const label = [`${column + 1}. ${name}`, ...filled.slice(0, 2)].join(' · ');
    // The spelling of the choice stays: another one would be planned anew.
    const value = column === at ? chosen[0] : undefined;
    return [value ?? `position:${column + 1}`, label.slice(0, 90), column === at];
  });
  const names = chosen.map(columnText).join(OR_FROM);
  const asChosen: Option[] = names !== '' && at === null ? [['', `as chosen: ${names}`, true]] : [];
  const lines = typeof choice.skipLines === 'string' ? choice.skipLines : '';
  const hasLines = reading.format === null || reading.format === 'csv' || reading.format === 'xlsx';
  return (
    <Card id="choices" title="Read it differently">
      <form id={PLAN_FORM} class="choices" method="get" action={filePath(draft.id)}>
        <HiddenFields fields={draft.place === 'drafts' ? kept : [[READ, '1'], ...kept]} />
        {columns.length > 0 && (
          <Select
            id="pick"
            label={FIELD_LABELS.column}
            options={[...asChosen, [ANY_COLUMN, 'chosen automatically', chosen.length === 0], ...columns]}
          />
        )}
        <Select
          id="kind"
          label={FIELD_LABELS.kind}
          options={[
            ['', 'judged from the values', choice.kind === undefined],
            ...IDENTIFIER_KINDS.map(
              (kind): Option => [kind, kind === 'auto' ? MIXTURE : KIND_WORDS[kind], choice.kind === kind],
            ),
          ]}
        />
        {reading.sheets.length > 1 && (
          <Select
            id="sheet"
            label={FIELD_LABELS.sheet}
            options={[
              ['', 'the one with companies', choice.sheet === undefined],
              ...reading.sheets.map((sheet): Option => [sheet, sheet, choice.sheet === sheet]),
            ]}
          />
        )}
        {hasLines && (
          <>
            <label for="skip">{FIELD_LABELS.skipLines}</label>
            <input id="skip" type="number" name="skipLines" min="0" value={lines} placeholder="0" />
            <Checkbox name="header" value="false" isOn={choice.header === 'false'}>
              {FIELD_LABELS.header}
            </Checkbox>
          </>
        )}
        {columns.length > 0 && condition !== 'other' && (
          <ConditionFields condition={condition} columns={reading.columns} half={halfCondition(choice)} />
        )}
        <button type="submit">Update the plan</button>
        {Object.keys(choice).length > 0 && (
          <>
            {' '}
            <a href={planPath(draft)}>Start over</a>
          </>
        )}
      </form>
    </Card>
  );
}

/** Returns the condition for the fields, null without one, `other` if they cannot show it. */
function conditionOf({ where = [] }: Choice, columns: readonly ShownColumn[]) {
  const [text, ...others] = [where].flat();
  if (text === undefined) return null;
  const condition = readCondition(text);
  if (condition === null || others.length > 0) return 'other';
  const { column } = condition;
  const isShown = column === '' || columns.some((_, at) => columnName(at, columns) === column);
  return isShown ? condition : 'other';
}

/** Returns a column's name, or its position where the name is unclear or a page changes it. */
export function columnName(at: number, columns: readonly ShownColumn[]): string {
  const name = columns[at]?.name ?? '';
  const isOdd = name.trim() === '' || name.length > 60 || /[=:\p{C}]/u.test(name);
  const isShared = columns.some((each, other) => other !== at && each.name === name);
  return isOdd || isShared ? `position:${at + 1}` : name;
}

function ConditionFields(shown: {
  condition: Exclude<ReturnType<typeof conditionOf>, 'other'>;
  columns: readonly ShownColumn[];
  half: ReturnType<typeof halfCondition>;
}) {
  const { condition, columns, half } = shown;
  const options = columns.map(({ name }, at): Option => {
    const column = columnName(at, columns);
    return [column, `${at + 1}. ${name}`.slice(0, 60), condition?.column === column];
  });
  const wanted = WANTS.map(([value, words]): Option => [value, words, condition?.wants === value]);
  return (
    <>
      <label for="only">{FIELD_LABELS.where}</label>
      <div class="condition">
        <Select
          id="only"
          label={FIELD_LABELS.where}
          isBare
          options={[['', 'all rows are looked up', condition === null], ...options]}
        />
        <Select id="only-is" label="must be" isBare options={wanted} />
        <input name="only-value" aria-label="the value" maxlength={200} value={condition?.value ?? ''} />
      </div>
      {half !== null && <p class="banner warn">{sentenceOf(`${half.subject}: ${half.todo}`)}</p>}
    </>
  );
}

const WANTS = [
  ['value', 'is'],
  ['filled', 'is filled'],
  ['blank', 'is blank'],
] as const;

export type Option = readonly [value: string, label: string, isChosen: boolean];

/** `name`: of its field, by default its `id`. `isBare`: its label is only read aloud. */
export function Select(shown: {
  id: string;
  name?: string;
  label: string;
  options: readonly Option[];
  form?: string;
  isBare?: boolean;
}) {
  const { id, name = id, label, options, form, isBare = false } = shown;
  return (
    <>
      {!isBare && <label for={id}>{label}</label>}
      <select id={id} name={name} form={form} aria-label={isBare ? label : undefined}>
        {options.map(([value, text, isChosen]) => (
          <option value={value} selected={isChosen}>
            {text}
          </option>
        ))}
      </select>
    </>
  );
}

/** A box of the page's form, with its words beside it. `isFixed`: nobody can change it here. */
export function Checkbox(
  box: PropsWithChildren<{ name: string; value: string; isOn: boolean; isFixed?: boolean }>,
) {
  const { isOn, isFixed = false, children, ...field } = box;
  const id = `run-${field.name}`;
  return (
    <p class="check">
      <input {...field} id={id} type="checkbox" form={PLAN_FORM} checked={isOn} disabled={isFixed} />{' '}
      <label for={id}>{children}</label>
    </p>
  );
}
