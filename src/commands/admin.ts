/** `status`, `ledger`, `outcomes`, `pause`, `resume` and `cancel`, which spend nothing. */
import type { Settings } from '../config/settings.js';
import {
  type AccountStatus,
  budgetText,
  limitText,
  projectionText,
  readAccountStatus,
  termsOf,
} from '../context/account-status.js';
import { accountOf, knownNames } from '../context/open-service.js';
import { spoolOf } from '../context/open-stores.js';
import { accountDocument, answersDocument, runDocument, statusDocument } from '../context/status-document.js';
import type { Document } from '../core/documents.js';
import { type ExitCode, NeverStartError, usageProblem } from '../core/errors.js';
import { countOf, countText } from '../core/figures.js';
import { IDENTIFIER_KINDS, type Identifier } from '../core/identifier.js';
import { isProcessGone } from '../core/process-identity.js';
import { visibleLines } from '../core/terminal-text.js';
import { listClosedInboxes } from '../daemon/inbox/inbox-folder-settings.js';
import type { Engine } from '../engine/engine.js';
import { readEngineId } from '../engine/engine-stores.js';
import { identifyCell } from '../identify/identify-cell.js';
import type { LedgerState } from '../ledger/ledger.js';
import { limitOf, spentOf } from '../ledger/policy.js';
import { RULES } from '../ledger/rules.js';
import { outcomeKey, outcomeKeyPrefix } from '../stores/outcome-key.js';
import type { OutcomeStats } from '../stores/outcome-store.js';
import {
  foundNothing,
  queuedText,
  type RunRecord,
  type RunStatus,
  runsBefore,
  unreportedOf,
} from '../stores/run-store.js';
import { listSpooled, type SpooledAnswers } from '../worker/answer-spool.js';
import { type Answer, answerFrom, answerLine, type CommandCall } from './answer.js';

const RUNS_SHOWN = 10;

/** Throws `NeverStartError` for arguments it cannot use, and what opening the engine throws. */
export function runAdmin(call: CommandCall): Promise<ExitCode> {
  return answerFrom(call, (stores) => carryOut(call, stores));
}

async function carryOut({ command, args, settings }: CommandCall, stores: Engine): Promise<Answer> {
  const { ledger, outcomes, runs } = stores;
  switch (command) {
    case 'status':
      return status(settings, stores);
    case 'pause':
    case 'resume': {
      const [id = null] = args;
      return id === null ? pauseAll(command === 'pause', stores) : pauseRun(id, command === 'pause', stores);
    }
    case 'cancel': {
      const [id = ''] = args;
      if (await runs.cancel(id))
        return answerLine({ cancelled: id }, `${id} is cancelled; its paid answers stay stored`);
      throw unusableRun('the engine knows no such run', id);
    }
    case 'ledger show': {
      const account = accountOf(settings);
      return showLedger(account, await ledger.show(account), settings, stores);
    }
    case 'ledger observe': {
      const account = accountOf(settings);
      const { observedUsage: usage, observedQuota: quota } = settings;
      const reading = { ...(usage === null ? {} : { usage }), ...(quota === null ? {} : { quota }) };
      return showLedger(account, await ledger.observe(account, reading), settings, stores);
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
      return answerLine({ forgotten }, `${countOf(forgotten, 'stored answer')} forgotten`);
    }
    case 'outcomes purge': {
      const forgotten = await outcomes.purge(Date.now() - settings.olderThanMs);
      return answerLine({ forgotten }, `${countOf(forgotten, 'stored answer')} purged`);
    }
    default:
      throw new Error(`no such command here: ${command}`);
  }
}

async function pauseAll(isPaused: boolean, { ledger, runs }: Engine): Promise<Answer> {
  await ledger.setPaused(isPaused);
  const data = { run: null, isPaused, paused: isPaused };
  if (isPaused) return answerLine(data, 'spending is paused; `brand-enrich resume` allows it again');
  const still = (await runs.list(RUNS_SHOWN)).filter((run) => run.isPaused).map(({ id }) => id);
  const rest = still.length === 0 ? '' : `; still paused: ${still.join(', ')}`;
  return answerLine(data, `spending is allowed again${rest}`);
}

async function pauseRun(id: string, isPaused: boolean, { ledger, runs }: Engine): Promise<Answer> {
  const isChanged = await runs.setPaused(id, isPaused);
  const run = await runs.get(id);
  if (run === null) throw unusableRun('the engine knows no such run', id);
  if (!isChanged) throw unusableRun('the run has ended', id);
  const data = { run: id, isPaused, paused: isPaused };
  if (isPaused) return answerLine(data, `${id} is paused; \`brand-enrich resume ${id}\` continues it`);
  const isAllPaused = (await ledger.show(run.settings.account)).isPaused;
  const rest = isAllPaused ? ' when spending is allowed again: `brand-enrich resume`' : '';
  return answerLine(data, `${id} continues${rest}`);
}

function unusableRun(what: string, id: string): NeverStartError {
  return new NeverStartError(usageProblem(what, id, '`brand-enrich status` lists the runs'));
}

/** The same terms as `status`: an account has one limit. */
async function showLedger(
  account: string,
  seen: LedgerState,
  settings: Settings,
  stores: Engine,
): Promise<Answer> {
  const { overage, quotaCap } = termsOf(account, seen, await stores.runs.list(RUNS_SHOWN), settings);
  const state = { ...seen, overage, quotaCap };
  const { period, sent, held, others, quota, usage } = state;
  const old = { period, sent, held, others, quota, usage };
  return { data: { account: accountDocument(account, state), ...old }, text: ledgerText(account, state) };
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
  const isOwn = ({ engine }: SpooledAnswers) => engine !== null && engine === engineId;
  const spools = spooled.map((each) => ({ ...each, isOwn: isOwn(each) }));
  // The store's clock dates heartbeats; this machine's clock may differ a lot.
  const storeNow = account.ledger?.now ?? now;
  const runs = account.runs.map((run) => {
    const status = shownStatus(run, storeNow);
    const queued = queuedText(runsBefore(run, account.runs, storeNow));
    const shown = DOCUMENT_STATUS[status];
    return { ...runDocument(run, shown, queued), tally: run.tally };
  });
  const closed = closedInboxes.map(
    ({ host, folder, why }) => `inbox       ${folder} on ${host} is closed: ${why}\n`,
  );
  const { ledger, limit } = account;
  const document = statusDocument(account, settings.currency);
  const data: Document<'status'> = {
    ...document,
    runs,
    closedInboxes: closedInboxes.map((each) => ({ ...each, reason: each.why })),
    spools: spools.map((each) => ({ ...each, since: new Date(each.since).toISOString() })),
    // The names of an earlier release, for one more.
    ledger: ledger && { ...document.account, held: ledger.held },
    limit,
    outcomes: document.answers,
  };
  return { data, text: closed.join('') + statusText(account, spools, storeNow) };
}

/** `acme.example`, `ticker:ACME` and the like, for every `allowNsfw`. */
function keysOf(args: readonly string[], { baseUrl }: Settings): string[] {
  if (baseUrl === null) {
    const todo = 'set BRAND_API_URL or --base-url: answers are stored per service';
    throw new NeverStartError({ code: 'usage-service-missing', subject: '--base-url', todo });
  }
  const prefixes = (['unset', 'true', 'false'] as const).map((nsfw) => outcomeKeyPrefix(baseUrl, nsfw));
  return args.map(readIdentifier).flatMap((each) => prefixes.map((prefix) => outcomeKey(prefix, each)));
}

function readIdentifier(text: string): Identifier {
  const colon = text.indexOf(':');
  const named = IDENTIFIER_KINDS.find((kind) => kind === text.slice(0, colon));
  const identified = identifyCell(named ? text.slice(colon + 1) : text, named ?? 'domain');
  if (identified.type === 'identifier') return identified.identifier;
  const todo = 'write a domain, or KIND:VALUE such as ticker:ACME';
  throw new NeverStartError(usageProblem(identified.reason, text, todo));
}

const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

export function ledgerText(account: string, state: LedgerState): string {
  const limit = limitOf(state);
  const used = spentOf(state);
  const lines = [
    `account     ${account}`,
    `period      ${state.period ?? 'unknown until the first answer'}`,
    `quota       ${state.quota === null ? 'unknown until the first answer' : countText(state.quota)}`,
    `limit       ${limit === null ? 'unknown' : countText(limit)} (${limitText(state)})`,
    `used        ${countText(used)}: ${countText(state.sent)} sent by us, ${countText(state.held)} in flight, ${countText(state.others)} by others`,
    `service     last reported ${state.usage === null ? 'no usage' : `${countText(state.usage)} used`}`,
  ];
  if (limit !== null) lines.push(`left        ${countText(Math.max(0, limit - used))}`);
  if (state.closedAt !== null)
    lines.push(`closed      the service refused for quota at ${time(state.closedAt)}`);
  if (state.isPaused) lines.push('paused      nothing is spent until `brand-enrich resume`');
  if (state.pace.rate !== null)
    lines.push(`pace        ${state.pace.rate.toFixed(1)} requests a second, burst ${state.pace.burst}`);
  return `${lines.join('\n')}\n`;
}

export function outcomesText(stats: OutcomeStats): string {
  const { matched, notFound, oldestFetchedAt: oldest, newestFetchedAt: newest } = stats;
  const span = oldest === null || newest === null ? null : `${time(oldest)} to ${time(newest)}`;
  const stored = `stored answers   ${countText(matched)} matched, ${countText(notFound)} not found\n`;
  return span === null ? stored : `${stored}fetched          from ${span}\n`;
}

/** Paid answers on this machine's disk; `isOwn`: they belong to this engine. */
type SpoolStatus = SpooledAnswers & { readonly isOwn: boolean };

function spoolText({ engine, isOwn, answers, folder, since }: SpoolStatus): string {
  const what = `on disk     ${countOf(answers, 'paid answer')} in ${folder}`;
  const next = 'the next run or worker with this state folder stores them';
  if (isOwn) return `${what}: ${next}\n`;
  if (engine === null) return `${what}, engine unknown: ${next}\n`;
  const until = time(since + RULES.answersKeptMs).slice(0, 10);
  return `${what}, for another engine (${engine}): kept until ${until}\n`;
}

/** `now`: the time by which heartbeats are dated. */
export function statusText(status: AccountStatus, spools: readonly SpoolStatus[], now: number): string {
  const parts = [`engine      ${status.engine} at ${status.address}\n`];
  for (const warning of status.warnings) parts.push(`  note      ${warning}\n`);
  parts.push(
    status.ledger && status.account !== null
      ? ledgerText(status.account, status.ledger)
      : 'account     unknown: set the service and its token (or --account)\n',
  );
  if (status.projection) parts.push(projectionText(status.projection, status.limit));
  if (status.budget) parts.push(budgetText(status.budget));
  const { waiting = 0, active = 0, delayed = 0 } = status.queue ?? {};
  const others = `${countText(active)} active, ${countText(delayed)} parked`;
  if (status.queue) parts.push(`queue       ${countOf(waiting, 'chunk')} waiting, ${others}\n`);
  parts.push(outcomesText(status.outcomes), ...spools.map(spoolText), '\n');
  if (status.runs.length === 0) parts.push('no runs yet\n');
  for (const run of status.runs) parts.push(runLine(run, now, queuedText(runsBefore(run, status.runs, now))));
  return parts.join('');
}

type ShownStatus = RunStatus | 'dead' | 'paused';

const DOCUMENT_STATUS = {
  running: 'running',
  paused: 'held',
  dead: 'dead',
  completed: 'finished',
  stopped: 'stopped',
  cancelled: 'cancelled',
} as const satisfies Record<ShownStatus, string>;

/**
 * `paused`: alone. `dead`: the record says `running`, but its process is gone or its heartbeat is
 * old. Twice the usual time allows for clocks that differ; one from the future was written before a
 * clock was set.
 */
function shownStatus({ status, beatAt, settings, isPaused }: RunRecord, now: number): ShownStatus {
  if (status !== 'running') return status;
  const isGone = settings.process !== undefined && isProcessGone(settings.process);
  if (isGone || Math.abs(now - beatAt) >= 2 * RULES.runDeadAfterMs) return 'dead';
  return isPaused ? 'paused' : status;
}

function earlierParts({ earlier }: RunRecord): string[] {
  if (earlier === undefined || earlier.starts === 0) return [];
  const { starts, billed, unreported } = earlier;
  const doubt = unreported === 0 ? '' : ` and ${countText(unreported)} perhaps billed`;
  return [`${countText(billed)} billed${doubt} in ${countOf(starts, 'earlier start')} that stopped`];
}

function runLine(run: RunRecord, now: number, queued: string | null): string {
  const { id, label, asOf, rows, tally } = run;
  const status = shownStatus(run, now);
  const word = status === 'completed' ? 'finished' : status;
  // A running run has some in flight.
  const lost = status === 'running' || status === 'paused' ? 0 : unreportedOf(run);
  const reason =
    status === 'dead'
      ? 'its process is gone; run the same command again to continue'
      : status === 'paused'
        ? `\`brand-enrich resume ${id}\` continues it`
        : run.reason;
  const why =
    queued !== null ? `: ${queued}` : reason ? `: ${reason}` : foundNothing(run) ? ': nothing matched' : '';
  const parts = [
    `${id}  ${word.padEnd(9)}  ${time(asOf)}  ${label}`,
    ...(rows === null ? [] : [countOf(rows, 'row'), countOf(run.identifiers ?? 0, 'identifier')]),
    `${countText(tally.matched + tally.notFound + tally.stored)} answered`,
    ...(tally.failed === 0 ? [] : [`${countText(tally.failed)} failed`]),
    countOf(tally.requests, 'request'),
    `${countText(tally.billed)} billed`,
    ...earlierParts(run),
    ...(lost === 0 ? [] : [`${countText(lost)} more may have been billed: their workers were killed`]),
  ];
  return visibleLines([`${parts.join(', ')}${why}`]);
}
