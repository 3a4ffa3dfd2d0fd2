/** `plan`: reads a file as `run` does, sends nothing, and shows what a run would need. */
import { knownNames } from '../app/open-service.js';
import { openStores } from '../app/open-stores.js';
import { type Counted, commonestOf } from '../core/counter.js';
import { type ExitCode, RunError } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { type Releasers, withReleasers } from '../core/lifecycle.js';
import { type RowReason, sayRowReason } from '../core/row-reason.js';
import { shortName, visibleLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { readTableEarly } from '../input/read-table.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { type Plan, planDocument, planFile } from '../run/plan-file.js';
import { fillText, leftText } from '../run/report/headline.js';
import { isLoopbackUrl } from '../settings/address-values.js';
import { type CommandCall, show } from './answer.js';

/** Prints a plan. Throws as reading the file and opening the engine do. */
export function runPlan(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, stdin, stop } = call;
    const [input = '-'] = call.args;
    const names = knownNames(settings);
    const table = await readTableEarly(input, settings, stop);
    releasers.push(() => table?.input.close());
    const without = settings.sample ? SAMPLE : NO_SERVICE;
    const { stores, whyUncounted } = names === null ? without : await openUnchanged(call, releasers);
    const request = {
      input,
      stdin: input === '-' ? stdin : null,
      table,
      settings,
      stateFolder: settings.state,
      reader: 'terminal' as const,
      runSettings:
        names &&
        runSettingsOf(settings, {
          ...names,
          isLoopback: isLoopbackUrl(names.service),
          ownDomain: settings.ownDomain,
        }),
    };
    const plan = await planFile(request, stores, stop);
    // With `-o -` standard output is only for the result.
    const stdout = settings.output === '-' && !settings.json ? call.stderr : call.stdout;
    return show({ data: planDocument(plan), text: planText(plan, whyUncounted) }, { ...call, stdout });
  });
}

const REASONS_SHOWN = 20;

const NO_SERVICE = { stores: null, whyUncounted: 'unknown: no service and token are set' };
const SAMPLE = { stores: null, whyUncounted: 'none: sample data is not kept' };

/** Opens the engine to read; opens none where `--start-empty` would have to set data aside. */
async function openUnchanged(
  call: CommandCall,
  releasers: Releasers,
): Promise<{ stores: Engine | null; whyUncounted?: string }> {
  const { startEmpty } = call.settings;
  try {
    const settings = { ...call.settings, startEmpty: false };
    return { stores: await openStores(settings, call, releasers, { isReadOnly: true }) };
  } catch (error) {
    if (!startEmpty || !(error instanceof RunError && error.code === 'engine-unfit')) throw error;
    return { stores: null, whyUncounted: 'none: a run would set the data aside and start empty' };
  }
}

/** Returns the plan for people. `whyUncounted`: why stored answers were not counted. */
export function planText(plan: Plan, whyUncounted = NO_SERVICE.whyUncounted): string {
  const { rows, identifiers, requests, spending, account } = plan;
  const reasonLines = (reasons: Iterable<Counted<RowReason>>) =>
    commonestOf(reasons, REASONS_SHOWN).map(
      ({ value, count }) => `    ${countText(count)} x ${sayRowReason(value)}`,
    );
  const kinds = Object.entries(identifiers.byKind).map(([kind, count]) => `${countText(count)} ${kind}`);
  const least = requests.least === requests.most ? '' : `${countText(requests.least)} to `;
  const lines = [
    `detected: ${plan.input.detected}`,
    ...plan.input.warnings,
    plan.columns,
    '',
    `rows                ${countText(rows.total)}`,
    ...selectedLine(plan.input.where),
    `  with identifier   ${countText(rows.asked)}, ` +
      `${countOf(rows.duplicates, 'of them a duplicate', 'of them duplicates')}`,
    `  blank or skipped  ${countText(rows.skipped)}`,
    ...reasonLines(plan.reasons.skipped),
    `  invalid           ${countText(rows.invalid + plan.input.unreadable)}, ` +
      `${countText(plan.input.unreadable)} of them unreadable`,
    ...reasonLines(plan.reasons.invalid),
    `identifiers         ${countText(identifiers.distinct)} distinct: ${kinds.join(', ') || 'none'}`,
    identifiers.stored === null
      ? `stored answers      ${whyUncounted}`
      : `stored answers      ${countOf(identifiers.stored, 'fresh one costs', 'fresh ones cost')} nothing`,
    `requests needed     ${least}${countText(requests.most)}`,
  ];
  if (account) {
    const { limit, used } = account;
    const rest =
      limit === null
        ? ' used; the quota is unknown until the first request'
        : ` of ${countText(limit)} used, ${leftText(account)} left`;
    lines.push(`account             ${countText(used)}${rest}`);
  }
  if (spending) {
    const { overageRequests, maxCost, deferred } = spending;
    const most = `up to ${countOf(overageRequests, 'request')}, at most ${maxCost}`;
    lines.push(`overage             ${overageRequests === 0 ? 'none' : most}`);
    const ways = plan.ways === null ? '' : `: ${plan.ways}`;
    if (deferred !== null) lines.push(`would be deferred   ${countText(deferred)}${ways}`);
  }
  if (plan.priority) lines.push(...priorityLines(plan.priority));
  for (const column of plan.fills?.columns ?? [])
    lines.push(`  column ${shortName(column.column)}: ${fillText(column)} (stored brands)`);
  const leftOut = leftOutText(plan.leftOut);
  if (leftOut !== '') lines.push(`not in the output   ${leftOut}`);
  const { output, errors } = plan.files;
  if (output !== '-') lines.push(`a run would write   ${output}, ${errors}`);
  lines.push('', 'nothing was sent or spent');
  return visibleLines(lines);
}

const SHEETS_SHOWN = 10;

function leftOutText({ linesAbove, sheets }: Plan['leftOut']): string {
  const lines = linesAbove === 1 ? 'line 1' : `lines 1 to ${linesAbove}`;
  const names = sheets.slice(0, SHEETS_SHOWN).map((name) => `'${shortName(name)}'`);
  const more = sheets.length > SHEETS_SHOWN ? ' and others' : '';
  return [
    ...(linesAbove > 0 ? [`${lines}, above the table`] : []),
    ...(sheets.length > 0 ? [`the other sheets: ${names.join(', ')}${more}`] : []),
  ].join('; ');
}

function selectedLine(where: Plan['input']['where']): string[] {
  if (where === null) return [];
  const conditions = where.conditions.join(' and ');
  const selected =
    where.rows === 0 ? `none: no row has ${conditions}` : `${countText(where.rows)} with ${conditions}`;
  return [`  selected          ${selected}`];
}

function priorityLines({ sentence, first, last }: NonNullable<Plan['priority']>): string[] {
  const shown = ({ identifier, value }: (typeof first)[number]) => `${identifier} (${value ?? 'no value'})`;
  const lines = [sentence, ...first.map((ranked, at) => `  ${at + 1}. ${shown(ranked)}`)];
  if (last) lines.push(`  the limit covers identifiers down to ${shown(last)}`);
  return lines;
}
