/**
 * The 80 % notice of the specification ("Limits", usage notice): a log line, and where the account names them a
 * webhook and an e-mail. Delivery never holds up an answer. What could not be delivered stays owed, in the usage journal,
 * and is tried again for three days, by the next start of the service too. When a notice is due is the meter's.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { type Channel, createDeliveries } from '../notify/deliveries.js';
import { sendMail } from '../notify/mail.js';
import { postWebhook, WEBHOOK_TERMS } from '../notify/webhook.js';
import type { Account, MailSettings } from './accounts.js';
import type { UsageJournal } from './usage-journal.js';

interface UsageNotice {
  readonly account: string;
  /** `YYYY-MM`, or `lifetime`. */
  readonly period: string;
  readonly requests: number;
  readonly quota: number;
}

export interface Notifier {
  /** Begins the delivery of a notice that the journal holds, and returns at once. */
  notify(account: Account, period: string): void;
  /** Waits for deliveries under way, ten seconds at most. What is still owed then stays in the journal. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  readonly accounts: readonly Account[];
  readonly mail: MailSettings | null;
  readonly journal: UsageJournal;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where an account is notified besides the log. */
export function channelsOf({ notices }: Account): Channel[] {
  const channels: Channel[] = [];
  if (notices.webhook !== null) channels.push('webhook');
  if (notices.email !== null) channels.push('e-mail');
  return channels;
}

/** Begins at once with what an earlier process still owed. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { accounts, mail, journal, clock, log } = options;
  const deliveries = createDeliveries(log, 'usage notice', clock);
  let isClosed = false;

  const settle = (account: string, period: string, channel: Channel) => {
    const count = journal.read(account, period);
    // A delivery that outlasted the close is begun again by the next start; receivers know it by its id.
    if (isClosed || count.notice === null) return;
    const open = count.notice.open.filter((each) => each !== channel);
    journal.change({ ...count, notice: { ...count.notice, open } });
    journal.written().catch((error) => {
      log.error({ account, error: errorText(error) }, 'usage cannot be recorded');
    });
  };

  const deliver = async (account: Account, period: string, channel: Channel): Promise<void> => {
    const { notice } = journal.read(account.name, period);
    const send = sendOf(account, period, channel);
    if (notice === null) return;
    if (send !== null) {
      // A kill from here on is followed by another try, not by none.
      await journal.written().catch(() => undefined);
      const facts = { account: account.name, period };
      const end = await deliveries.persist(channel, facts, send, notice.at);
      if (end === 'stopped') return;
    }
    settle(account.name, period, channel);
  };

  /** null: the account no longer wants notices there. */
  const sendOf = (account: Account, period: string, channel: Channel): (() => Promise<void>) | null => {
    const { notice } = journal.read(account.name, period);
    const { webhook, email } = account.notices;
    if (notice === null) return null;
    const { requests, quota } = notice;
    const content: UsageNotice = { account: account.name, period, requests, quota };
    const id = createHash('sha256').update(`${account.name}\n${period}`).digest('hex').slice(0, 32);
    if (channel === 'webhook') {
      if (webhook === null) return null;
      const message = { url: webhook, content: { event: 'usage-notice', ...content }, secret: null, id };
      return () => postWebhook(message, { ...WEBHOOK_TERMS, clock });
    }
    if (email === null || mail === null) return null;
    const message = { from: mail.from, to: [email], id, ...noticeMail(content) };
    return () => sendMail({ url: mail.url, allowsPlain: true }, message);
  };

  const begin = (account: Account, period: string) => {
    for (const channel of journal.read(account.name, period).notice?.open ?? [])
      void deliver(account, period, channel);
  };

  for (const { account: name, period } of journal.list()) {
    const account = accounts.find((candidate) => candidate.name === name);
    if (account !== undefined) begin(account, period);
  }
  return {
    notify(account, period) {
      const { notice } = journal.read(account.name, period);
      const facts = { account: account.name, period, requests: notice?.requests, quota: notice?.quota };
      log.warn(facts, 'usage is past 80 % of the quota');
      begin(account, period);
    },
    async close() {
      await deliveries.close();
      isClosed = true;
    },
  };
}

/** The words of the e-mail. */
function noticeMail(notice: UsageNotice): { subject: string; text: string } {
  const { account, requests, quota, period } = notice;
  const when = period === 'lifetime' ? 'in all' : `in ${period}`;
  return {
    subject: `${account}: more than 80 % of the request quota is used`,
    text: `The account ${account} has made ${requests} of ${quota} requests ${when}.\n`,
  };
}
