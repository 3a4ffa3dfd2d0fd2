/**
 * Notifies by webhook and e-mail: picks the events that are asked for and begins a delivery to each place. It never throws once it is
 * open, waits for nobody, and changes no exit code. What cannot be delivered now is kept in the state folder and goes out with
 * whatever command notifies the same receiver next. What is said is in `notice.ts`, how it travels in `notify`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isLoopbackUrl } from '../../config/address-values.js';
import { readNotifySecret } from '../../config/secrets.js';
import type { Settings } from '../../config/settings.js';
import { type Clock, systemClock } from '../../core/clock.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { isNearLimit, limitOf } from '../../ledger/policy.js';
import { createDeliveries, DELIVERY_MS } from '../../notify/deliveries.js';
import { sendMail } from '../../notify/mail.js';
import { type OutboxMessage, openOutbox } from '../../notify/outbox.js';
import { postWebhook, WEBHOOK_TERMS } from '../../notify/webhook.js';
import { type Notice, noticeOfAccount } from './notice.js';
import { noticeMail } from './notice-mail.js';

export interface Notifier {
  /** Begins the deliveries and returns at once. */
  notify(notice: Notice | null): void;
  /** Notifies of 80 % of the limit: once per account, period and limit, over all processes that share the state folder. */
  notifyNearLimit(account: string, state: LedgerState | null, run: Notice['run']): void;
  /** Waits for deliveries under way: 10 s at most, 2 s after a signal. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  readonly settings: Settings;
  /** Where it is remembered what was sent once. */
  readonly stateFolder: string;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly clock?: Clock;
}

const HURRIED_MS = 2_000;

/** Throws NeverStartError when the file of the secret cannot be used. */
export function openNotifier(options: NotifierOptions): Notifier {
  const { settings, log, stop, clock = systemClock } = options;
  const { notifyUrl: url, notifyEmail: to, smtpUrl, notifyOn } = settings;
  const from = settings.notifyFrom ?? to[0] ?? '';
  const secret = readNotifySecret(settings);
  const receivers = { webhook: url === null ? null : hashOf(url), 'e-mail': hashOf(to.join('\n')) } as const;
  const seen = new Set<string>();
  const posting = new Set<Promise<void>>();

  /** null: a letter to another receiver, left by a command with other settings. */
  function sendOf({ id, channel, to: receiver, content }: OutboxMessage): (() => Promise<void>) | null {
    if (receiver !== receivers[channel]) return null;
    // Letters hold what this file put into them.
    const notice = content as Notice;
    if (channel === 'webhook') {
      if (url === null) return null;
      return () => postWebhook({ url, content: notice, secret, id }, { ...WEBHOOK_TERMS, clock });
    }
    if (to.length === 0 || smtpUrl === null) return null;
    const server = { url: smtpUrl, allowsPlain: settings.allowHttp || isLoopbackUrl(smtpUrl) };
    return () => sendMail(server, { from, to, id, ...noticeMail(notice) });
  }

  const outbox =
    url === null && to.length === 0
      ? null
      : openOutbox({
          folder: join(options.stateFolder, 'notified'),
          deliveries: createDeliveries(log, 'notification', clock),
          clock,
          sendOf,
          factsOf: ({ content }) => ({ event: (content as Notice).event, run: (content as Notice).run.id }),
        });

  /** `id`: the same for whoever sends the same. */
  async function post(notice: Notice, id: string, isOnce: boolean): Promise<void> {
    const letter = { at: clock.now(), content: notice };
    if (receivers.webhook !== null)
      await outbox?.post(
        { ...letter, id: `${id}-webhook`, channel: 'webhook', to: receivers.webhook },
        isOnce,
      );
    if (to.length > 0)
      await outbox?.post({ ...letter, id: `${id}-mail`, channel: 'e-mail', to: receivers['e-mail'] }, isOnce);
  }

  function track(promise: Promise<void>): void {
    const tracked: Promise<void> = promise.finally(() => posting.delete(tracked));
    posting.add(tracked);
  }

  return {
    notify(notice) {
      if (notice !== null && notifyOn.includes(notice.event)) track(post(notice, randomUUID(), false));
    },
    notifyNearLimit(account, state, run) {
      if (state === null || !notifyOn.includes('limit') || !isNearLimit(state)) return;
      if (outbox === null) return;
      const name = hashOf(`${account}\n${state.period}\n${limitOf(state)}`);
      if (seen.has(name)) return;
      seen.add(name);
      const scene = { at: clock.now(), isSample: settings.sample, run };
      track(post(noticeOfAccount('limit', scene, '80 % of the limit is used', state), name, true));
    },
    async close() {
      const atMostMs = stop.aborted ? HURRIED_MS : DELIVERY_MS;
      const all = Promise.all(posting).then(() => outbox?.close(atMostMs));
      await withinDeadline(all, atMostMs + 500);
    },
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
