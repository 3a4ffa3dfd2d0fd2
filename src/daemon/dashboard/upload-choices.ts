/** How an uploaded file is read, for people to choose: in words, as links, as a form. Pure. */
import { withOptionNames } from '../../config/option-names.js';
import type { ErrorCode } from '../../core/errors.js';
import { countOf, sentenceOf } from '../../core/figures.js';
import { IDENTIFIER_KINDS } from '../../core/identifier.js';
import { KIND_WORDS } from '../../identify/find-column.js';
import { card, html, type Markup } from '../../run/report/markup.js';
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
import { hiddenFields } from './plain-pages.js';

/** Of its page, with these choices. */
export function uploadPath({ id }: Pick<Upload, 'id'>, fields: readonly [string, string][] = []): string {
  return `/uploads/${encodeURIComponent(id)}${fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`}`;
}

/** What a refused file needs: links that choose it, else the words of the message. */
export function wayOut(todo: string, upload: Upload, choice: Choice, hasColumns: boolean): Markup {
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
  const content = html`${isChoice ? html`<ul class="things">${links}</ul>` : html`<p>${sentenceOf(withOptionNames(todo))}</p>`}
${hasColumns && html`<p>Or choose the column below.</p>`}`;
  return card('way-out', isChoice ? 'Choose one' : 'What to do', content, { more: 'alone' });
}

/** Settings for people who know no flags. */
function chosenText({ column, kind, ...others }: Choice): string {
  const known = IDENTIFIER_KINDS.find((each) => each === kind);
  const kindText = known === undefined ? '' : ` (${KIND_WORDS[known]})`;
  const columns = [column ?? 'the column that is chosen automatically'].flat().map(columnText);
  const words = Object.entries(others).map(([key, value]) => {
    if (key === 'header')
      return value === 'false' ? 'the first row is data, not a header' : 'the first row is the header';
    if (key === 'skipLines') return `${countOf(Number(value), 'line')} above the header`;
    return `${key} ${[value].flat().join(', ')}`;
  });
  if (column !== undefined || known !== undefined)
    words.unshift(`identifiers from ${columns.join(', then from ')}${kindText}`);
  return sentenceOf(words.join(', ')).slice(0, -1);
}

/** A chosen column, with its kind. */
export function columnText(text: string): string {
  const kind = IDENTIFIER_KINDS.find((each) => text.endsWith(`:${each}`));
  const name = kind === undefined ? text : text.slice(0, -kind.length - 1);
  return `${name.replace(/^position:/, 'column ')}${kind === undefined ? '' : ` (${KIND_WORDS[kind]})`}`;
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
export function hasChoices(choice: Choice, { reading, refusal }: UploadPlan): boolean {
  const isHopeless = refusal !== null && HOPELESS.includes(refusal.code);
  return !isHopeless || reading.sheets.length > 1 || Object.keys(choice).length > 0;
}

const HOPELESS: readonly ErrorCode[] = ['input-binary', 'input-empty', 'input-missing'];

/** Choices as a form that shows the plan anew. */
export function choicesCard(upload: Upload, choice: Choice, { reading }: UploadPlan): Markup {
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
    option(ANY_COLUMN, 'chosen automatically', said.length === 0),
  ];
  const hasLines = reading.format === null || reading.format === 'csv' || reading.format === 'xlsx';
  const content = html`<form class="choices" method="get" action="${uploadPath(upload)}">
${hiddenFields(kept)}
${
  columns.length > 0 &&
  html`<label for="pick">Column of the identifiers</label>
<select id="pick" name="pick">${others}${columns}</select>`
}
<label for="kind">Kind</label>
<select id="kind" name="kind">${option('', 'judged from the values', choice.kind === undefined)}${IDENTIFIER_KINDS.map((kind) => option(kind, kind === 'auto' ? 'auto: the service decides' : KIND_WORDS[kind], choice.kind === kind))}</select>
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
<button type="submit">Update the plan</button>${Object.keys(choice).length > 0 && html` <a href="${uploadPath(upload)}">Start over</a>`}
</form>`;
  return card('choices', 'Read it differently', content);
}
