/**
 * `plan`: the same reading as `run`, nothing sent, in words or as JSON.
 */
import { isLoopbackUrl } from '../config/address-values.js';
import type { Settings } from '../config/settings.js';
import { type CommandContext, openStores } from '../context/open-context.js';
import { knownNames } from '../context/open-service.js';
import { EXIT, type ExitCode } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { withReleasers } from '../core/lifecycle.js';
import { printJson, printText, visibleLines } from '../core/terminal-text.js';
import { intakeOf, runSettingsOf, scanOf } from '../run/enrich-request.js';
import { type Plan, planFile } from '../run/plan-file.js';
import { openTableEarly } from '../run/scan/open-table.js';

export function runPlan(input: string, settings: Settings, context: CommandContext): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const names = knownNames(settings);
    const asked = { input, intake: intakeOf(settings), scan: scanOf(settings) };
    const table = await openTableEarly(asked, context.stop);
    releasers.push(() => table?.input.close());
    const stores = names === null ? null : await openStores(settings, context, releasers);
    const plan = await planFile(
      {
        ...asked,
        stdin: input === '-' ? context.stdin : null,
        table,
        stateFolder: settings.state,
        overagePrice: settings.overagePrice,
        settings: names && runSettingsOf(settings, { ...names, isLoopback: isLoopbackUrl(names.service) }),
      },
      stores,
      context.stop,
    );
    if (settings.json) printJson(context.stdout, plan);
    else printText(context.stdout, planText(plan));
    return EXIT.done;
  });
}

export function planText(plan: Plan): string {
  const { rows, identifiers, requests, spending, account } = plan;
  const lines = [...plan.warnings, plan.columns, ''];
  lines.push(`rows                ${countText(rows.total)}`);
  lines.push(
    `  with identifier   ${countText(rows.asked)}, ${countOf(rows.duplicates, 'of them a duplicate', 'of them duplicates')}`,
  );
  lines.push(`  blank or skipped  ${countText(rows.skipped)}`);
  for (const [reason, number] of Object.entries(plan.skipReasons))
    lines.push(`    ${countText(number)} x ${reason}`);
  lines.push(
    `  invalid           ${countText(rows.invalid + rows.unreadable)}, ${countText(rows.unreadable)} of them unreadable`,
  );
  for (const [reason, number] of Object.entries(plan.reasons)) {
    const ofInvalid = number - (plan.skipReasons[reason] ?? 0);
    if (ofInvalid > 0) lines.push(`    ${countText(ofInvalid)} x ${reason}`);
  }
  const kinds = Object.entries(identifiers.byKind).map(([kind, number]) => `${countText(number)} ${kind}`);
  lines.push(
    `identifiers         ${countText(identifiers.distinct)} distinct: ${kinds.join(', ') || 'none'}`,
  );
  lines.push(
    plan.stored === null
      ? 'stored answers      unknown: no service and token are named'
      : `stored answers      ${countOf(plan.stored, 'fresh one costs', 'fresh ones cost')} nothing`,
  );
  const range =
    requests.least === requests.most
      ? countText(requests.least)
      : `${countText(requests.least)} to ${countText(requests.most)}`;
  lines.push(`requests needed     ${range}`);
  if (account) {
    lines.push(
      account.limit === null
        ? `account             ${countText(account.used)} used; no quota is known before the first request`
        : `account             ${countText(account.used)} of ${countText(account.limit)} used, ${countText(Math.max(0, account.limit - account.used))} left`,
    );
  }
  if (spending) {
    lines.push(
      `overage             up to ${countOf(spending.overageRequests, 'request')}, at most ${spending.maxCost}`,
    );
    if (spending.deferred !== null) lines.push(`would be deferred   ${countText(spending.deferred)}`);
  }
  if (plan.priority) lines.push(...priorityLines(plan.priority));
  lines.push('', 'nothing was sent or spent');
  return visibleLines(lines);
}

function priorityLines({ sentence, first, last }: NonNullable<Plan['priority']>): string[] {
  const show = ({ identifier, value }: (typeof first)[number]) => `${identifier} (${value ?? 'no value'})`;
  const lines = [sentence, ...first.map((ranked, at) => `  ${at + 1}. ${show(ranked)}`)];
  if (last) lines.push(`  the limit reaches down to ${show(last)}`);
  return lines;
}
