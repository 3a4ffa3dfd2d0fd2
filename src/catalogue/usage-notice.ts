/**
 * The 80 % notice of the specification ("Limits", usage notice): a log line, and where the account names them a
 * webhook and an e-mail. Delivery never holds up an answer, and a failed one is logged. When a notice is due, and that
 * it is given once, is the meter's.
 */
import { createTransport } from 'nodemailer';
import { errorText } from '../errors.js';
import { withinDeadline } from '../lifecycle.js';
import type { Log } from '../log.js';
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

const DELIVERY_MS = 10_000;

export function createNotifier(options: { mail: MailSettings | null; log: Log }): Notifier {
  const { mail, log } = options;
  const underWay = new Set<Promise<void>>();

  const deliver = (by: 'webhook' | 'e-mail', notice: UsageNotice, delivery: Promise<unknown>) => {
    const settled: Promise<void> = delivery
      .then(
        () => log.info({ account: notice.account, by }, 'usage notice delivered'),
        (error) =>
          log.error({ account: notice.account, by, error: errorText(error) }, 'usage notice not delivered'),
      )
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
  };

  return {
    notify(account, notice) {
      log.warn({ ...notice }, 'usage is past 80 % of the quota');
      const { webhook, email } = account.notices;
      if (webhook !== null) deliver('webhook', notice, postWebhook(webhook, notice));
      if (email !== null && mail !== null) deliver('e-mail', notice, sendMail(mail, email, notice));
    },
    async close() {
      await withinDeadline(Promise.all(underWay), DELIVERY_MS);
    },
  };
}

async function postWebhook(url: string, notice: UsageNotice): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'usage-notice', ...notice }),
    redirect: 'error',
    signal: AbortSignal.timeout(DELIVERY_MS),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`answered with ${answer.status}`);
}

async function sendMail(mail: MailSettings, to: string, notice: UsageNotice): Promise<void> {
  const timeouts = {
    connectionTimeout: DELIVERY_MS,
    greetingTimeout: DELIVERY_MS,
    socketTimeout: DELIVERY_MS,
  };
  const transport = createTransport({ url: mail.url, ...timeouts });
  try {
    await transport.sendMail({ from: mail.from, to, ...noticeMail(notice) });
  } finally {
    transport.close();
  }
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
