/**
 * The 80 % notice of the specification ("Limits", usage notice): a log line, and where the account names them a
 * webhook and an e-mail. Delivery never holds up an answer, and a failed one is logged. When a notice is due, and that
 * it is given once, is the meter's.
 */
import type { Log } from '../log.js';
import { createDeliveries } from '../notify/deliveries.js';
import { sendMail } from '../notify/mail.js';
import { postWebhook } from '../notify/webhook.js';
import type { Account, MailSettings } from './accounts.js';

export interface UsageNotice {
  readonly account: string;
  /** `YYYY-MM`, or `lifetime`. */
  readonly period: string;
  readonly requests: number;
  readonly quota: number;
}

export interface Notifier {
  /** Begins the delivery and returns at once. */
  notify(account: Account, notice: UsageNotice): void;
  /** Waits for deliveries under way, ten seconds at most. */
  close(): Promise<void>;
}

export function createNotifier(options: { mail: MailSettings | null; log: Log }): Notifier {
  const { mail, log } = options;
  const deliveries = createDeliveries(log, 'usage notice');
  return {
    notify(account, notice) {
      log.warn({ ...notice }, 'usage is past 80 % of the quota');
      const { webhook, email } = account.notices;
      const facts = { account: notice.account };
      if (webhook !== null) {
        const content = { event: 'usage-notice', ...notice };
        void deliveries.begin('webhook', facts, () => postWebhook({ url: webhook, content, secret: null }));
      }
      if (email !== null && mail !== null) {
        const message = { from: mail.from, to: [email], ...noticeMail(notice) };
        void deliveries.begin('e-mail', facts, () => sendMail({ url: mail.url, allowsPlain: true }, message));
      }
    },
    close: () => deliveries.close(),
  };
}

/** The words of the e-mail. */
export function noticeMail(notice: UsageNotice): { subject: string; text: string } {
  const { account, requests, quota, period } = notice;
  const when = period === 'lifetime' ? 'in all' : `in ${period}`;
  return {
    subject: `${account}: more than 80 % of the request quota is used`,
    text: `The account ${account} has made ${requests} of ${quota} requests ${when}.\n`,
  };
}
