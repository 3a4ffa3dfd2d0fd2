/** `ledger check`: one request beyond the limit, ordered by a person. */
import { accountDocument } from '../app/account-status.js';
import { openContext, openLookupWorker, openState } from '../app/open-context.js';
import { DeclinedError, type ExitCode } from '../core/errors.js';
import { moneyText } from '../core/figures.js';
import { withReleasers } from '../core/lifecycle.js';
import { userAtHost } from '../core/process-identity.js';
import { printText } from '../core/terminal-text.js';
import { labelText } from '../engine/stores/run-store.js';
import { carryOutCheck, checkText, planCheck } from '../run/check-account.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { askOnTerminal } from '../run/terminal-view.js';
import { readIdentifier } from './admin.js';
import { type CommandCall, show } from './answer.js';

/** Asks and sends. Throws `DeclinedError` for a no, and as opening and `carryOutCheck` do. */
export function runLedgerCheck(call: CommandCall): Promise<ExitCode> {
  const { settings, args, stdin, stderr, stop, log } = call;
  const given = args[0] === undefined ? null : readIdentifier(args[0]);
  return withReleasers(async (releasers) => {
    const context = await openContext(settings, await openState(settings, call, releasers), call, releasers);
    const { engine, service, stateFolder } = context;
    const plan = await planCheck(engine, runSettingsOf(settings, service), given);
    const price = moneyText(settings.overagePrice, settings.currency, 'price');
    const from = plan.run === null ? '' : `, the first that ${labelText(plan.run.label)} deferred`;
    printText(stderr, `one request, for ${plan.text}${from}: it costs at most ${price}\n`);
    const isAsked = stdin.isTTY === true && stderr.isTTY === true && !settings.yes;
    if (isAsked && !(await askOnTerminal('spend it?', { streams: { stdin, stderr }, stop }))) {
      const todo = 'to check the account, run it again and answer y';
      throw new DeclinedError({ code: 'declined', subject: plan.text, todo });
    }
    const worker = openLookupWorker({ engine, service, settings, stateFolder, log, takesChunks: false });
    releasers.push(() => worker.stop(context.graceMs()));
    await worker.start();
    const end = await carryOutCheck(worker, plan, userAtHost(), log);
    const account = accountDocument(plan.settings.account, end.ledger);
    const data = { identifier: plan.text, outcome: end.outcome, isBilled: end.isBilled, account };
    show({ data, text: `${checkText(plan, end)}\n` }, call);
    return end.exitCode;
  });
}
