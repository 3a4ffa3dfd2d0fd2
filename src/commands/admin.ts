/**
 * The admin commands: `status`, `ledger`, `outcomes`, `pause`, `resume`, `cancel`. They read and
 * change accounts, answers and runs, and spend nothing.
 */
import { usageProblem } from '../config/problems.js';
import type { CommandName } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { readAccountStatus, termsOf } from '../context/account-status.js';
import { type CommandContext, spoolOf } from '../context/open-context.js';
import { accountOf, knownNames } from '../context/open-service.js';
import { type ExitCode, NeverStartError } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { IDENTIFIER_KINDS, type Identifier } from '../core/identifier.js';
import { listClosedInboxes } from '../daemon/inbox/inbox-folder-settings.js';
import type { ChunkCounts, Engine } from '../engine/engine.js';
import { readEngineId } from '../engine/engine-id.js';
import { identifyCell } from '../identify/identify-cell.js';
import type { LedgerState } from '../ledger/ledger.js';
import { outcomeKey, outcomeKeyPrefix } from '../stores/outcome-key.js';
import { listSpooled } from '../worker/answer-spool.js';
import { closedInboxesText, ledgerText, outcomesText, shownStatus, statusText } from './admin-text.js';
import { type Answer, answerFrom } from './answer.js';

const RUNS_SHOWN = 10;

/** Throws `NeverStartError` for arguments it cannot use, and what opening the engine throws. */
export function runAdmin(
  command: CommandName,
  args: readonly string[],
  settings: Settings,
  context: CommandContext,
): Promise<ExitCode> {
  return answerFrom(settings, context, (stores) => carryOut(command, args, settings, stores));
}

async function carryOut(
  command: CommandName,
  args: readonly string[],
  settings: Settings,
  stores: Engine,
): Promise<Answer> {
  const { ledger, outcomes, runs } = stores;
  switch (command) {
    case 'status':
      return status(settings, stores);
    case 'pause':
      await ledger.setPaused(true);
      return said({ paused: true }, 'paused: nothing is spent until `brand-enrich resume`');
    case 'resume':
      await ledger.setPaused(false);
      return said({ paused: false }, 'spending is allowed again');
    case 'cancel': {
      const [id = ''] = args;
      if (await runs.cancel(id))
        return said({ cancelled: id }, `${id} is cancelled; the answers that it paid for stay stored`);
      const todo = '`brand-enrich status` lists the runs';
      throw new NeverStartError(usageProblem('the engine knows no such run', id, todo));
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
      const next = 'the next run reads its usage from the service';
      return said({ reset: account }, `account ${account} is forgotten; ${next}`);
    }
    case 'outcomes stats': {
      const stats = await outcomes.stats();
      return { data: stats, text: outcomesText(stats) };
    }
    case 'outcomes forget': {
      const forgotten = await outcomes.forget(keysOf(args, settings));
      return said({ forgotten }, `${countOf(forgotten, 'stored answer')} forgotten`);
    }
    case 'outcomes purge': {
      const forgotten = await outcomes.purge(Date.now() - settings.olderThanMs);
      return said({ forgotten }, `${countOf(forgotten, 'stored answer')} purged`);
    }
    default:
      throw new Error(`no such command here: ${command}`);
  }
}

function said(data: unknown, text: string): Answer {
  return { data, text: `${text}\n` };
}

/** By the same terms as `status`: an account has one limit, whoever looks. */
async function showLedger(
  account: string,
  seen: LedgerState,
  settings: Settings,
  stores: Engine,
): Promise<Answer> {
  const { overage, quotaCap } = termsOf(account, seen, await stores.runs.list(RUNS_SHOWN), settings);
  const state = { ...seen, overage, quotaCap };
  return { data: state, text: ledgerText(account, state) };
}

async function status(settings: Settings, stores: Engine): Promise<Answer> {
  const now = Date.now();
  const queueCounts = (name: string) => countChunks(stores, name);
  const [account, closedInboxes, engineId, spooled] = await Promise.all([
    readAccountStatus({ ...stores, queueCounts }, knownNames(settings), settings, RUNS_SHOWN),
    listClosedInboxes(stores.keyValues),
    readEngineId(stores.keyValues),
    listSpooled(spoolOf(settings.state), now),
  ]);
  const spools = spooled.map((each) => ({
    ...each,
    isOwn: each.engine !== null && each.engine === engineId,
  }));
  // Heartbeats are dated by the store's clock; this machine's may differ by a lot.
  const storeNow = account.ledger?.now ?? now;
  const runs = account.runs.map((run) => ({ ...run, status: shownStatus(run, storeNow) }));
  const data = { ...account, runs, closedInboxes, spools };
  return { data, text: closedInboxesText(closedInboxes) + statusText(account, spools, storeNow) };
}

async function countChunks(engine: Engine, queueName: string): Promise<ChunkCounts> {
  const queue = engine.openChunkQueue(queueName);
  return queue.counts().finally(() => queue.close());
}

/** `acme.example`, `ticker:ACME` and the like, for every `allowNsfw`. */
function keysOf(args: readonly string[], { baseUrl }: Settings): string[] {
  if (baseUrl === null) {
    throw new NeverStartError({
      code: 'usage-service-missing',
      subject: '--base-url',
      todo: 'name the service whose answers should be forgotten',
    });
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
