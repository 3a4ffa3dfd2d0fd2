/**
 * Notifies by webhook and e-mail. An open notifier never throws and changes no exit code. The state
 * folder keeps undelivered messages for the next process that notifies the same receiver.
 */
import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type Clock, systemClock } from '../../core/clock.js';
import { EXIT, type ExitCode, InterruptedError } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { createDeliveries, DELIVERY_MS } from '../../notify/deliveries.js';
import { sendMail, tryMail } from '../../notify/mail.js';
import type { OutboxMessage } from '../../notify/outbox.js';
import { postWebhook, tryWebhook, WEBHOOK_TERMS } from '../../notify/webhook.js';
import { isLoopbackUrl, mailOf, maskAddress, maskOrigin } from '../../settings/address-values.js';
import { networkOf } from '../../settings/network.js';
import type { NotifyEvent } from '../../settings/process-settings.js';
import { readNotifySecret } from '../../settings/secrets.js';
import type { Settings } from '../../settings/settings.js';
import { judgeAccount } from '../facts/judge-account.js';
import type { FileEvent } from '../run-file.js';
import { sayHalt } from '../words/say-reason.js';
import {
  type Notice,
  type NoticeScene,
  noticeMail,
  noticeOfAccount,
  noticeOfError,
  noticeOfReport,
} from './notice.js';

export type Notifier = ReturnType<typeof openNotifier>;

export interface NotifierOptions {
  readonly settings: Settings;
  /** The folder for undelivered messages, and for those to send only once. */
  readonly stateFolder: string;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly clock?: Clock;
}

/** A receiver of messages. `suffix`: its part of the id of a message. */
interface Receiver extends Pick<OutboxMessage, 'channel' | 'to'> {
  readonly suffix: string;
  readonly send: (notice: Notice, id: string) => Promise<void>;
  /** Reaches the receiver without a notice, and returns its answer. Throws as sending does. */
  readonly check: () => Promise<string>;
}

const HURRIED_MS = 2_000;

/** Opens the notifier. Throws ConfigError if the file of the secret cannot be used. */
export function openNotifier({ settings, stateFolder, log, stop, clock = systemClock }: NotifierOptions) {
  const receivers = receiversOf(settings, clock);
  const notified = new Set<string>();
  const posting = new Set<Promise<unknown>>();
  const open = async () => {
    // Loaded on demand, because most commands send no notice and it needs a library.
    const { openOutbox } = await import('../../notify/outbox.js');
    return openOutbox({
      folder: join(stateFolder, 'notified'),
      deliveries: createDeliveries(log, 'notification', clock),
      clock,
      // Null for a message to another receiver, which a command with other settings left.
      sendOf({ id, channel, to, content }) {
        const receiver = receivers.find((each) => each.channel === channel && each.to === to);
        return receiver === undefined ? null : () => receiver.send(content as Notice, id);
      },
      factsOf: ({ content }) => ({ event: (content as Notice).event, run: (content as Notice).run.id }),
    });
  };
  const outbox = receivers.length === 0 ? null : open();

  /** `id`: the same for the same message, in every process. */
  function post(notice: Notice, id: string, isOnce: boolean): void {
    const content: Notice = { ...notice, currency: settings.currency };
    const at = clock.now();
    const posted = (async () => {
      for (const { channel, to, suffix } of receivers)
        await (await outbox)?.post({ id: `${id}-${suffix}`, channel, to, at, content }, isOnce);
    })().finally(() => posting.delete(posted));
    posting.add(posted);
  }

  const isWanted = ({ event }: Notice) => settings.notifyOn.includes(event);

  /** Notifies once of a subject, however many processes of this state folder ask. */
  function notifyOnce(notice: Notice, subject: string): void {
    const id = hashOf(subject);
    if (!isWanted(notice) || notified.has(id)) return;
    notified.add(id);
    post(notice, id, true);
  }

  return {
    notify(notice: Notice | null): void {
      if (notice !== null && isWanted(notice)) post(notice, randomUUID(), false);
    },
    notifyOnce,
    /** Notifies of 80 % of the limit, once per account, period and limit. */
    notifyNearLimit(account: string, state: LedgerState | null, run: Notice['run']): void {
      if (state === null) return;
      const { isNearLimit, limit } = judgeAccount(state);
      if (!isNearLimit) return;
      const scene = { at: clock.now(), isSample: settings.sample, run };
      const notice = noticeOfAccount('limit', scene, '80 % of the limit is used', state);
      notifyOnce(notice, `${account}\n${state.period}\n${limit}`);
    },
    /** Waits for deliveries under way: 10 s at most, 2 s after a signal. */
    async close(): Promise<void> {
      const atMostMs = stop.aborted ? HURRIED_MS : DELIVERY_MS;
      const all = Promise.all(posting).then(async () => (await outbox)?.close(atMostMs));
      await withinDeadline(all, atMostMs + 500);
    },
  };
}

/** Returns the receivers of the settings. Throws as `openNotifier` does. */
export function receiversOf(settings: Settings, clock: Clock): Receiver[] {
  const { notifyUrl: url, notifyMail } = settings;
  const secret = readNotifySecret(settings);
  const network = networkOf(settings);
  const receivers: Receiver[] = [];
  if (url !== null)
    receivers.push({
      channel: 'webhook',
      suffix: 'webhook',
      to: hashOf(url),
      send: (content, id) => postWebhook({ url, content, secret, id }, { ...WEBHOOK_TERMS, clock, network }),
      check: async () => `${maskOrigin(url)} answers HEAD with ${await tryWebhook(url, network)}`,
    });
  if (notifyMail !== null) {
    const { extraCa } = network;
    const { server: url, to, from } = mailOf(notifyMail);
    const server = { url, allowsPlain: settings.allowHttp || isLoopbackUrl(url), extraCa };
    receivers.push({
      channel: 'e-mail',
      suffix: 'mail',
      to: hashOf(to.join('\n')),
      send: (notice, id) => sendMail(server, { from, to, id, ...noticeMail(notice) }),
      check: async () => {
        await tryMail(server);
        return `${maskAddress(url)} takes mail for ${to.join(', ')}`;
      },
    });
  }
  return receivers;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

export type RunNotices = ReturnType<typeof createRunNotices>;

export function createRunNotices(options: {
  readonly notifier: Notifier;
  readonly input: string;
  readonly isSample: boolean;
  readonly clock: Clock;
}) {
  const { notifier, input, isSample, clock } = options;
  const label = `${hostname()}: ${input === '-' ? 'stdin' : basename(input)}`;
  let id: string | null = null;
  const scene = (): NoticeScene => ({ at: clock.now(), isSample, run: { id, label } });

  function noteEnd({ result, report, exitCode }: Extract<FileEvent, { type: 'ended' }>): void {
    const { run, ledger, names, end } = result;
    id = run.id;
    notifier.notifyNearLimit(run.settings.account, ledger, scene().run);
    // No notice of an intended end: a trial, or a pause by a person.
    const event = end.type === 'declined' || end.type === 'paused' ? null : eventOf(exitCode);
    if (event === null) return;
    const notice = noticeOfReport(event, scene(), report, resolve(names.report));
    // A held run notifies once, since later starts of the same command are held, too.
    if (report.stopped !== 'min-match') notifier.notify(notice);
    else notifier.notifyOnce(notice, `held\n${run.key}\n${run.keyStartedAt}`);
  }

  return {
    note(event: FileEvent): void {
      if (event.type === 'ended') noteEnd(event);
      if (event.type === 'progress') {
        id = event.record.id;
        notifier.notifyNearLimit(event.record.settings.account, event.ledger, scene().run);
      }
      if (event.type !== 'parked') return;
      const reason = `${sayHalt(event.halt, 'notice')}; the run continues when it can spend again`;
      notifier.notify(noticeOfAccount('parked', scene(), reason, event.ledger));
    },
    /** Runs `action`; notifies of its error, unless a person stopped it, and rethrows. */
    async notingErrors<T>(stop: AbortSignal, action: () => Promise<T>): Promise<T> {
      try {
        return await action();
      } catch (error) {
        if (!stop.aborted && !(error instanceof InterruptedError))
          notifier.notify(noticeOfError(error, scene()));
        throw error;
      }
    },
  };
}

/** Returns null if a person stopped the run, and so needs no notice. */
function eventOf(exitCode: ExitCode): NotifyEvent | null {
  if (exitCode === EXIT.done || exitCode === EXIT.someFailed) return 'finish';
  if (exitCode === EXIT.interrupted) return null;
  return exitCode === EXIT.limit ? 'parked' : 'failure';
}
