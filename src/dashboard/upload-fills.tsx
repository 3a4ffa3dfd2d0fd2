/** The user's own columns that brands fill, as the page of a plan shows and offers them. Pure. */
import { CELL_FIELDS } from '../brand-api/known-fields.js';
import { countOf } from '../core/figures.js';
import { jsonKey } from '../core/table.js';
import type { Choice, ShownColumn } from '../jobs/plan-upload.js';
import { fillText } from '../run/report/headline.js';
import { Card } from '../run/report/kit/parts.js';
import { FIELD_LABELS } from '../run/words/page-words.js';
import { Folded, HiddenFields } from './plain-pages.js';
import { Checkbox, columnAt, columnName, type Option, PLAN_FORM, Select } from './upload-choices.js';
import type { Found } from './upload-start.js';

/** `found`: null for a refused plan. */
type Filling = Readonly<{ choice: Choice; columns: readonly ShownColumn[]; found: Found | null }>;

/** Settings that the card has fields for. */
export const FILL_KEYS = ['fill', 'fillOver'] as const;

export function FillCard(filling: Filling) {
  const { choice, found } = filling;
  const fills = found?.plan.fills?.columns ?? [];
  const isChosen = FILL_KEYS.some((key) => choice[key] !== undefined);
  return (
    <Card id="fill" title={FIELD_LABELS.fill}>
      {fills.length > 0 && (
        <>
          {fills.map((each) => (
            <p class="why">
              <bdi>{each.column}</bdi> from {fieldText(each.field)}: {fillText(each)}
            </p>
          ))}
          <p class="note">
            {found?.settings.fillOver.length === 0 && 'Cells that differ stay. '}
            {found?.settings.fill.length === 0 && 'Cells that differ are replaced. '}
            The counts are of stored brands: companies that are looked up can fill more cells.
            {!isChosen && ' Settings of the inbox or of this file name these columns.'}
          </p>
        </>
      )}
      {(isChosen || fills.length === 0) && (
        <Folded id="fills" summary="Choose a field of the brand for a column" isOpen={found === null}>
          <FillFields {...filling} />
        </Folded>
      )}
    </Card>
  );
}

/** Columns from the left: a file can have thousands. */
const COLUMNS_OFFERED = 40;

function FillFields({ choice, columns, found }: Filling) {
  const [blank = [], over = []] = FILL_KEYS.map((key) => [choice[key] ?? []].flat());
  const isOver = blank.length === 0 && over.length > 0;
  const requests = (isOver ? over : blank).map((text) => {
    const equals = text.lastIndexOf('=');
    return { text, field: text.slice(equals + 1), at: columnAt([text.slice(0, equals)], columns) };
  });
  const lookedUp = found?.chosen.map(({ column }) => column) ?? [];
  const ours = found === null ? [] : [found.settings.prefix, `${jsonKey(found.settings.prefix)}.`];
  const isOurs = (at: number) => ours.some((start) => `${columns[at]?.name}.`.startsWith(start));
  const fillable = [...columns.keys()].filter((at) => !lookedUp.includes(at) && !isOurs(at));
  const offered = fillable.slice(0, COLUMNS_OFFERED);
  const others = requests.filter(({ at }) => at === null || !offered.includes(at));
  const kept = [
    ...others.map(({ text }) => ['fill', text] as const),
    ...(isOver ? [] : over.map((text) => ['fillOver', text] as const)),
  ];
  return (
    <div class="choices">
      <HiddenFields form={PLAN_FORM} fields={kept} />
      <div class="fields">
        {offered.map((at) => {
          const label = columns[at]?.name.trim().slice(0, 60) || `Column ${at + 1}`;
          const chosen = requests.find((request) => request.at === at) ?? null;
          const options = optionsFor(columnName(at, columns), chosen);
          return (
            <div>
              <Select id={`fill-${at + 1}`} name="fill" form={PLAN_FORM} label={label} options={options} />
            </div>
          );
        })}
      </div>
      <Checkbox name="fill-over" value="1" isOn={isOver}>
        Also where the cell is not blank
      </Checkbox>
      {offered.length < fillable.length && (
        <p class="note">{countOf(fillable.length - offered.length, 'other column')} not shown.</p>
      )}
      <button type="submit" form={PLAN_FORM}>
        Update the plan
      </button>
    </div>
  );
}

const fieldText = (field: string) => field.replaceAll('_', ' ');

function optionsFor(column: string, chosen: { text: string; field: string } | null): Option[] {
  const others = CELL_FIELDS.filter((field) => field !== chosen?.field);
  const options = others.map((field): Option => [`${column}=${field}`, fieldText(field), false]);
  if (chosen !== null) options.unshift([chosen.text, fieldText(chosen.field), true]);
  return [['', 'nothing', chosen === null], ...options];
}
