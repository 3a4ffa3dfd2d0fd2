/** `status`, `ledger` and `outcomes`, which spend nothing. */
import {
  type AccountStatus,
  accountDocument,
  answersDocument,
  budgetText,
  limitText,
  projectionText,
  readAccountStatus,
  readOwnAccount,
  runDocument,
  statusDocument,
} from '../app/account-status.js';
import { accountOf, knownNames } from '../app/open-service.js';
import { spoolOf } from '../app/open-stores.js';
import { ConfigError, type ExitCode, usageProblem } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { type Identifier, identifierText, readIdentifierText } from '../core/identifier.js';
import { sayRowReason } from '../core/row-reason.js';
import { visibleLines } from '../core/terminal-text.js';
import type { Engine } from '../engine/engine.js';
import { readEngineId } from '../engine/engine-stores.js';
import { outcomeKeys } from '../engine/stores/outcome-key.js';
import type { OutcomeStats } from '../engine/stores/outcome-store.js';
import { labelText, pausedText, type RunRecord, resumeCommand } from '../engine/stores/run-store.js';
import { identifyCell } from '../input/identify/identify-cell.js';
import { listClosedInboxes } from '../jobs/watcher-status.js';
import type { LedgerState } from '../ledger/ledger.js';
import { inFlightOf, sayWait } from '../ledger/policy.js';
import { RULES } from '../ledger/rules.js';
import type { Document } from '../run/documents.js';
import { judgeAccount, useOf } from '../run/facts/judge-account.js';
import { countsOf, type JudgedRun, judgeRuns } from '../run/facts/judge-runs.js';
import { leftText } from '../run/report/headline.js';
import { sayRun, UNREPORTED } from '../run/words/say-reason.js';
import type { Settings } from '../settings/settings.js';
import { listSpooled, type SpooledAnswers } from '../worker/answer-spool.js';
import { type Answer, answerFrom, answerLine, type CommandCall } from './answer.js';
import { spendingAnswer } from './spending.js';

const RUNS_SHOWN = 10;

/** Answers a command. Throws `ConfigError` for bad arguments, and as opening the engine does. */
export function runAdmin(call: CommandCall): Promise<ExitCode> {
  return answerFrom(call, (stores) => carryOut(call, stores));
}

async function carryOut({ command, args, settings }: CommandCall, stores: Engine): Promise<Answer> {
  const { ledger, outcomes } = stores;
  switch (command) {
    case 'status':
      return settings.spendingBy === null
        ? status(settings, stores)
        : spendingAnswer(settings.spendingBy, settings, stores);
    case 'ledger show': {
      const account = accountOf(settings);
      return showLedger(account, await readOwnAccount(stores, account, settings));
    }
    case 'ledger observe': {
      const account = accountOf(settings);
      const { observedUsage: usage, observedQuota: quota } = settings;
      const reading = { ...(usage === null ? {} : { usage }), ...(quota === null ? {} : { quota }) };
      const observe = (name: string) => ledger.observe(name, reading);
      return showLedger(account, await readOwnAccount(stores, account, settings, observe));
    }
    case 'ledger reset': {
      const account = accountOf(settings);
      await ledger.reset(account);
      const next = 'the next run reads the usage from the service';
      return answerLine({ reset: account }, `account ${account} is forgotten; ${next}`);
    }
    case 'outcomes stats': {
      const stats = await outcomes.stats();
      return { data: answersDocument(stats), text: outcomesText(stats) };
    }
    case 'outcomes forget': {
      const forgotten = await outcomes.forget(keysOf(args, settings));
      const text =
        forgotten === 0
          ? `no stored answer of ${settings.baseUrl} for ${args.join(', ')}`
          : `${countOf(forgotten, 'stored answer')} forgotten`;
      return answerLine({ forgotten }, text);
    }
    case 'outcomes purge': {
      const forgotten = await outcomes.purge(settings.olderThanMs);
      return answerLine({ forgotten }, `${countOf(forgotten, 'stored answer')} purged`);
    }
    default:
      throw new Error(`no such command here: ${command}`);
  }
}

function showLedger(account: string, state: LedgerState): Answer {
  return { data: { account: accountDocument(account, state) }, text: ledgerText(account, state) };
}

async function status(settings: Settings, stores: Engine): Promise<Answer> {
  const now = Date.now();
  const queueCounts = (name: string) => {
    const queue = stores.openChunkQueue(name);
    return queue.counts().finally(() => queue.close());
  };
  const [account, closedInboxes, engineId, spooled] = await Promise.all([
    readAccountStatus(stores, queueCounts, knownNames(settings), settings, RUNS_SHOWN),
    listClosedInboxes(stores.keyValues),
    readEngineId(stores.keyValues),
    listSpooled(spoolOf(settings.state), now),
  ]);
  const spools = spooled.map((each) => ({ ...each, isOwn: each.engine === engineId }));
  const closed = closedInboxes.map(
    ({ host, folder, why }) => `inbox       ${folder} on ${host} is closed: ${why}\n`,
  );
  const data: Document<'status'> = {
    ...statusDocument(account, settings.currency),
    runs: judgeRuns(account).map(runDocument),
    closedInboxes: closedInboxes.map(({ host, folder, why: reason }) => ({ host, folder, reason })),
    spools: spools.map((each) => ({ ...each, since: new Date(each.since).toISOString() })),
  };
  return { data, text: closed.join('') + statusText(account, spools) };
}

/** Returns the keys of `acme.example` or `ticker:ACME`, one for each value of `allowNsfw`. */
function keysOf(args: readonly string[], { baseUrl }: Settings): string[] {
  // The rules of settings refuse this command without an address.
  const service = baseUrl ?? '';
  const all = (['unset', 'true', 'false'] as const).map((nsfw) => outcomeKeys(service, nsfw));
  const texts = args.map(readIdentifier).map(identifierText);
  return texts.flatMap((text) => all.map((keyOf) => keyOf(text)));
}

/** Reads a domain or `KIND:VALUE`. Throws `ConfigError` for anything else. */
export function readIdentifier(text: string): Identifier {
  const { kind, value } = readIdentifierText(text) ?? ({ kind: 'domain', value: text } as const);
  const identified = identifyCell(value, kind);
  if (identified.type === 'identifier') return identified.identifier;
  const todo = 'write a domain, or KIND:VALUE such as ticker:ACME';
  throw new ConfigError(usageProblem(sayRowReason(identified.reason), text, todo));
}

const utcText = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function ledgerText(account: string, state: LedgerState): string {
  const { limit, used, waitsUntil } = judgeAccount(state);
  const lines = [
    `account     ${account}`,
    `period      ${state.period ?? 'unknown until the first answer'}`,
    `quota       ${state.quota === null ? 'unknown until the first answer' : countText(state.quota)}`,
    `limit       ${limit === null ? 'unknown' : countText(limit)} (${limitText(state)})`,
    `used        ${countText(used)}: ${countText(state.sent)} sent by us, ` +
      `${countText(inFlightOf(state))} in flight, ${countText(state.others)} by others`,
    `service     last reported ${state.usage === null ? 'no usage' : `${countText(state.usage)} used`}`,
  ];
  const { own } = state;
  if (state.free > 0)
    lines.push(`free        ${countOf(state.free, 'request')} for the own domain, which do not count`);
  if (own.booked > 0)
    lines.push(
      `own domain  ${countText(own.booked)} of the requests sent by us, given back once they are proven free`,
    );
  const left = leftText(useOf(state));
  if (left !== null) lines.push(`left        ${left}`);
  if (state.closedAt !== null)
    lines.push(`closed      the service refused for quota at ${utcText(state.closedAt)}`);
  if (state.isPaused) lines.push('paused      nothing is spent until `brand-enrich resume`');
  if (state.pace.rate !== null)
    lines.push(`pace        ${state.pace.rate.toFixed(1)} requests a second, burst ${state.pace.burst}`);
  if (waitsUntil !== null) lines.push(`wait        ${sayWait(waitsUntil)}`);
  return `${lines.join('\n')}\n`;
}

function outcomesText(stats: OutcomeStats): string {
  const { matched, notFound, oldestFetchedAt: oldest, newestFetchedAt: newest } = stats;
  const span = oldest === null || newest === null ? null : `${utcText(oldest)} to ${utcText(newest)}`;
  const stored = `stored answers   ${countText(matched)} matched, ${countText(notFound)} not found\n`;
  return span === null ? stored : `${stored}fetched          from ${span}\n`;
}

/** Paid answers on this machine's disk. `isOwn`: of this engine. */
type SpoolStatus = SpooledAnswers & { readonly isOwn: boolean };

function spoolText({ engine, isOwn, answers, folder, since }: SpoolStatus): string {
  const what = `on disk     ${countOf(answers, 'paid answer')} in ${folder}`;
  if (isOwn) return `${what}: the next run or worker with this state folder stores them\n`;
  const until = utcText(since + RULES.answersKeptMs).slice(0, 10);
  return `${what}, for another engine (${engine}): kept until ${until}\n`;
}

/** Returns what `status` prints. */
export function statusText(status: AccountStatus, spools: readonly SpoolStatus[]): string {
  const parts = [`engine      ${status.engine} at ${status.address}\n`];
  for (const { text } of status.warnings) parts.push(`  note      ${text}\n`);
  parts.push(
    status.ledger && status.account !== null
      ? ledgerText(status.account, status.ledger)
      : 'account     unknown: set the service and its token (or --account)\n',
  );
  if (status.projection)
    parts.push(projectionText(status.projection, status.ledger && judgeAccount(status.ledger).limit));
  if (status.budget) parts.push(budgetText(status.budget));
  const { waiting = 0, active = 0, delayed = 0 } = status.queue ?? {};
  const others = `${countText(active)} active, ${countText(delayed)} parked`;
  if (status.queue) parts.push(`queue       ${countOf(waiting, 'chunk')} waiting, ${others}\n`);
  parts.push(outcomesText(status.outcomes), ...spools.map(spoolText), '\n');
  for (const pause of status.pauses) {
    const way = `${resumeCommand(pause)} continues it`;
    parts.push(visibleLines([`paused      ${pause.label.name}: ${pausedText(pause)}; ${way}`]));
  }
  if (status.runs.length === 0) parts.push('no runs yet\n');
  for (const judged of judgeRuns(status)) parts.push(runLine(judged, status.storeNow));
  return parts.join('');
}

function earlierParts({ earlier }: RunRecord): string[] {
  if (earlier === undefined || earlier.starts === 0) return [];
  const { starts, billed, unreported } = earlier;
  const doubt = unreported === 0 ? '' : ` and ${countText(unreported)} perhaps billed`;
  return [`${countText(billed)} billed${doubt} in ${countOf(starts, 'earlier start')} that stopped`];
}

function runLine(judged: JudgedRun, now: number): string {
  const { run, unreported } = judged;
  const { id, label, asOf, rows, tally } = run;
  const { matched, notFound, stored } = countsOf(run);
  const why = sayRun(judged, 'terminal', now);
  const state = judged.state === 'nothing matched' ? judged.standing : judged.state;
  const parts = [
    `${id}  ${state.padEnd(9)}  ${utcText(asOf)}  ${labelText(label)}`,
    ...(rows === null ? [] : [countOf(rows, 'row'), countOf(run.identifiers ?? 0, 'identifier')]),
    `${countText(matched + notFound + stored)} answered`,
    ...(tally.failed === 0 ? [] : [`${countText(tally.failed)} failed`]),
    countOf(tally.requests, 'request'),
    `${countText(tally.billed)} billed`,
    ...earlierParts(run),
    ...(unreported === 0 ? [] : [`${countText(unreported)} more may have been billed: ${UNREPORTED}`]),
  ];
  return visibleLines([`${parts.join(', ')}${why === null ? '' : `: ${why}`}`]);
}
