/** Sends the 80 % notice ("Limits"): it delays no answer, and stays owed for three days. */
import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { type Channel, createDeliveries, type Deliveries } from '../notify/deliveries.js';
import { sendMail } from '../notify/mail.js';
import { postWebhook, WEBHOOK_TERMS } from '../notify/webhook.js';
import type { Account, Accounts } from './accounts.js';
import type { NoticeState, UsageJournal } from './usage-journal.js';

/** Returns where an account is notified, besides the log. */
export function channelsOf({ notices }: Account): Channel[] {
  const { webhook, email } = notices;
  return [...(webhook ? ['webhook' as const] : []), ...(email ? ['e-mail' as const] : [])];
}

export class Notifier {
  readonly #deliveries: Deliveries;
  #isClosed = false;

  /** Begins at once with the notices that an earlier process still owed. */
  constructor(
    private readonly journal: UsageJournal,
    private readonly service: { readonly accounts: Accounts; readonly clock: Clock; readonly log: Log },
  ) {
    const { accounts, clock, log } = service;
    this.#deliveries = createDeliveries(log, 'usage notice', clock);
    for (const { account: name, period } of journal.list()) {
      const account = accounts.all.find((candidate) => candidate.name === name);
      if (account !== undefined) this.#begin(account, period);
    }
  }

  /** Begins to deliver a notice of the journal, and returns at once. */
  notify(account: Account, period: string): void {
    const { notice } = this.journal.read(account.name, period);
    const facts = { account: account.name, period, requests: notice?.requests, quota: notice?.quota };
    this.service.log.warn(facts, 'usage is past 80 % of the quota');
    this.#begin(account, period);
  }

  /** Waits at most ten seconds for deliveries under way. The journal still owes the rest. */
  async close(): Promise<void> {
    await this.#deliveries.close();
    this.#isClosed = true;
  }

  #begin(account: Account, period: string): void {
    const { notice } = this.journal.read(account.name, period);
    for (const channel of notice?.open ?? []) void this.#deliver(account, period, channel);
  }

  async #deliver(account: Account, period: string, channel: Channel): Promise<void> {
    const { journal } = this;
    const { notice } = journal.read(account.name, period);
    if (notice === null) return;
    const send = this.#sendOf(account, period, channel, notice);
    if (send !== null) {
      // After a kill from here on, the next process tries again.
      await journal.written().catch(() => undefined);
      const facts = { account: account.name, period };
      if ((await this.#deliveries.persist(channel, facts, send, notice.at)) === 'stopped') return;
    }
    const count = journal.read(account.name, period);
    // The next start tries again what outlasted the close; receivers know it by its id.
    if (this.#isClosed || count.notice === null) return;
    const open = count.notice.open.filter((each) => each !== channel);
    journal.change({ ...count, notice: { ...count.notice, open } });
    await journal.written().catch((error) => {
      this.service.log.error({ account: account.name, error: errorText(error) }, 'usage cannot be recorded');
    });
  }

  /** Returns how to send a notice; null if the account no longer wants it there. */
  #sendOf({ name, notices }: Account, period: string, channel: Channel, { requests, quota }: NoticeState) {
    const { clock, accounts } = this.service;
    const id = createHash('sha256').update(`${name}\n${period}`).digest('hex').slice(0, 32);
    if (channel === 'webhook') {
      if (notices.webhook === null) return null;
      const content = { event: 'usage-notice', account: name, period, requests, quota };
      const message = { url: notices.webhook, content, secret: null, id };
      return () => postWebhook(message, { ...WEBHOOK_TERMS, clock });
    }
    if (notices.email === null || accounts.mail === null) return null;
    const { from, url } = accounts.mail;
    const when = period === 'lifetime' ? 'in all' : `in ${period}`;
    const message = {
      from,
      to: [notices.email],
      id,
      subject: `${name}: more than 80 % of the request quota is used`,
      text: `The account ${name} has made ${requests} of ${quota} requests ${when}.\n`,
    };
    return () => sendMail({ url, allowsPlain: true }, message);
  }
}
