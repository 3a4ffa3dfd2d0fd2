/** `plan`: the same reading as `run`, nothing sent, in words or as JSON. */
import { isLoopbackUrl } from '../config/address-values.js';
import { openStores } from '../context/open-context.js';
import { knownNames } from '../context/open-service.js';
import type { ExitCode } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { withReleasers } from '../core/lifecycle.js';
import { visibleLines } from '../core/terminal-text.js';
import { intakeOf, runSettingsOf, scanOf } from '../run/enrich-request.js';
import { type Plan, planFile } from '../run/plan-file.js';
import { openTableEarly } from '../run/scan/open-table.js';
import { type CommandCall, show } from './answer.js';

export function runPlan(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, stdin, stop } = call;
    const [input = '-'] = call.args;
    const names = knownNames(settings);
    const asked = { input, intake: intakeOf(settings), scan: scanOf(settings) };
    const table = await openTableEarly(asked, stop);
    releasers.push(() => table?.input.close());
    const stores = names === null ? null : await openStores(settings, call, releasers);
    const request = {
      ...asked,
      stdin: input === '-' ? stdin : null,
      table,
      stateFolder: settings.state,
      overagePrice: settings.overagePrice,
      settings: names && runSettingsOf(settings, { ...names, isLoopback: isLoopbackUrl(names.service) }),
    };
    const plan = await planFile(request, stores, stop);
    return show({ data: plan, text: planText(plan) }, call);
  });
}

export function planText(plan: Plan): string {
  const { rows, identifiers, requests, spending, account } = plan;
  const reasonLines = (counts: readonly (readonly [string, number])[]) =>
    counts.filter(([, count]) => count > 0).map(([reason, count]) => `    ${countText(count)} x ${reason}`);
  const ofInvalid = Object.entries(plan.reasons).map(
    ([reason, count]) => [reason, count - (plan.skipReasons[reason] ?? 0)] as const,
  );
  const kinds = Object.entries(identifiers.byKind).map(([kind, count]) => `${countText(count)} ${kind}`);
  const least = requests.least === requests.most ? '' : `${countText(requests.least)} to `;
  const lines = [
    ...plan.warnings,
    plan.columns,
    '',
    `rows                ${countText(rows.total)}`,
    `  with identifier   ${countText(rows.asked)}, ${countOf(rows.duplicates, 'of them a duplicate', 'of them duplicates')}`,
    `  blank or skipped  ${countText(rows.skipped)}`,
    ...reasonLines(Object.entries(plan.skipReasons)),
    `  invalid           ${countText(rows.invalid + rows.unreadable)}, ${countText(rows.unreadable)} of them unreadable`,
    ...reasonLines(ofInvalid),
    `identifiers         ${countText(identifiers.distinct)} distinct: ${kinds.join(', ') || 'none'}`,
    plan.stored === null
      ? 'stored answers      unknown: no service and token are set'
      : `stored answers      ${countOf(plan.stored, 'fresh one costs', 'fresh ones cost')} nothing`,
    `requests needed     ${least}${countText(requests.most)}`,
  ];
  if (account) {
    const { limit, used } = account;
    const left = limit === null ? '' : `, ${countText(Math.max(0, limit - used))} left`;
    const rest =
      limit === null
        ? ' used; the quota is unknown until the first request'
        : ` of ${countText(limit)} used${left}`;
    lines.push(`account             ${countText(used)}${rest}`);
  }
  if (spending) {
    const { overageRequests, maxCost, deferred } = spending;
    lines.push(`overage             up to ${countOf(overageRequests, 'request')}, at most ${maxCost}`);
    if (deferred !== null) lines.push(`would be deferred   ${countText(deferred)}`);
  }
  if (plan.priority) lines.push(...priorityLines(plan.priority));
  lines.push('', 'nothing was sent or spent');
  return visibleLines(lines);
}

function priorityLines({ sentence, first, last }: NonNullable<Plan['priority']>): string[] {
  const shown = ({ identifier, value }: (typeof first)[number]) => `${identifier} (${value ?? 'no value'})`;
  const lines = [sentence, ...first.map((ranked, at) => `  ${at + 1}. ${shown(ranked)}`)];
  if (last) lines.push(`  the limit covers identifiers down to ${shown(last)}`);
  return lines;
}
