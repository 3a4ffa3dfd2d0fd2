/**
 * The admin commands: `status`, `ledger`, `outcomes`, `pause`, `resume`, `cancel`. They read and
 * change accounts, answers and runs, and spend nothing.
 */
import type { CommandName } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { readAccountStatus, termsOf } from '../context/account-status.js';
import { type CommandContext, openStores, spoolOf } from '../context/open-context.js';
import { accountOf, knownNames } from '../context/open-service.js';
import { EXIT, type ExitCode, NeverStartError } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { IDENTIFIER_KINDS, type Identifier } from '../core/identifier.js';
import { withReleasers } from '../core/lifecycle.js';
import { printJson, printText } from '../core/terminal-text.js';
import { listClosedInboxes } from '../daemon/inbox/inbox-folder-settings.js';
import type { ChunkCounts, Engine } from '../engine/engine.js';
import { readEngineId } from '../engine/engine-id.js';
import { identifyCell } from '../identify/identify-cell.js';
import type { LedgerState } from '../ledger/ledger.js';
import { outcomeKey, outcomeKeyPrefix } from '../stores/outcome-key.js';
import { listSpooled } from '../worker/answer-spool.js';
import { closedInboxesText, ledgerText, outcomesText, shownStatus, statusText } from './admin-text.js';

const RUNS_SHOWN = 10;

/** Throws `NeverStartError` for arguments it cannot use, and what opening the engine throws. */
export function runAdmin(
  command: CommandName,
  args: readonly string[],
  settings: Settings,
  context: CommandContext,
): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const stores = await openStores(settings, context, releasers);
    const answer = await carryOut(command, args, settings, stores);
    if (settings.json) printJson(context.stdout, answer.data);
    else printText(context.stdout, answer.text);
    return EXIT.done;
  });
}

interface Answer {
  readonly data: unknown;
  readonly text: string;
}

async function carryOut(
  command: CommandName,
  args: readonly string[],
  settings: Settings,
  stores: Engine,
): Promise<Answer> {
  switch (command) {
    case 'status':
      return status(settings, stores);
    case 'pause':
    case 'resume': {
      const paused = command === 'pause';
      await stores.ledger.setPaused(paused);
      return said(
        { paused },
        paused ? 'paused: nothing is spent until `brand-enrich resume`' : 'spending is allowed again',
      );
    }
    case 'cancel': {
      const id = args[0] ?? '';
      if (await stores.runs.cancel(id))
        return said({ cancelled: id }, `${id} is cancelled; the answers that it paid for stay stored`);
      throw unknownRun(id);
    }
    case 'ledger show': {
      const account = accountOf(settings);
      return showLedger(account, await stores.ledger.show(account), settings, stores);
    }
    case 'ledger observe': {
      const account = accountOf(settings);
      const state = await stores.ledger.observe(account, {
        ...(settings.observedUsage === null ? {} : { usage: settings.observedUsage }),
        ...(settings.observedQuota === null ? {} : { quota: settings.observedQuota }),
      });
      return showLedger(account, state, settings, stores);
    }
    case 'ledger reset': {
      const account = accountOf(settings);
      await stores.ledger.reset(account);
      return said(
        { reset: account },
        `account ${account} is forgotten; the next run reads its usage from the service`,
      );
    }
    case 'outcomes stats': {
      const stats = await stores.outcomes.stats();
      return { data: stats, text: outcomesText(stats) };
    }
    case 'outcomes forget': {
      const forgotten = await stores.outcomes.forget(keysOf(args, settings));
      return said({ forgotten }, `${countOf(forgotten, 'stored answer')} forgotten`);
    }
    case 'outcomes purge': {
      const forgotten = await stores.outcomes.purge(Date.now() - settings.olderThanMs);
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
  const [account, closedInboxes, engineId, spooled] = await Promise.all([
    readAccountStatus(
      { ...stores, queueCounts: (name) => countChunks(stores, name) },
      knownNames(settings),
      settings,
      RUNS_SHOWN,
    ),
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
  const line = engine.openChunkQueue(queueName);
  return line.counts().finally(() => line.close());
}

/** `acme.example`, `ticker:ACME` and the like, for every `allowNsfw`. */
function keysOf(args: readonly string[], settings: Settings): string[] {
  const service = settings.baseUrl;
  if (service === null) {
    throw new NeverStartError({
      code: 'usage-service-missing',
      subject: '--base-url',
      todo: 'name the service whose answers should be forgotten',
    });
  }
  return args.flatMap((text) => {
    const identifier = readIdentifier(text);
    return (['unset', 'true', 'false'] as const).map((nsfw) =>
      outcomeKey(outcomeKeyPrefix(service, nsfw), identifier),
    );
  });
}

function readIdentifier(text: string): Identifier {
  const colon = text.indexOf(':');
  const named = IDENTIFIER_KINDS.find((kind) => kind === text.slice(0, colon));
  const identified = identifyCell(named ? text.slice(colon + 1) : text, named ?? 'domain');
  if (identified.type === 'identifier') return identified.identifier;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: identified.reason,
    subject: text,
    todo: 'write a domain, or KIND:VALUE such as ticker:ACME',
  });
}

function unknownRun(id: string): NeverStartError {
  return new NeverStartError({
    code: 'usage-invalid',
    what: 'the engine knows no such run',
    subject: id,
    todo: '`brand-enrich status` lists the runs',
  });
}
