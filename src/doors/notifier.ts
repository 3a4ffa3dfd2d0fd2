/**
 * Tells those who want to be told: picks the events that are asked for and begins a delivery to each place. It never throws once it is
 * open, waits for nobody, and changes no exit code. What is said is in `notice.ts`, how it travels in the room `notify`.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.js';
import { isLoopbackUrl } from '../config/address-values.js';
import { readNotifySecret } from '../config/read-notify-secret.js';
import type { Settings } from '../config/settings.js';
import { withinDeadline } from '../lifecycle.js';
import type { Log } from '../log.js';
import { createDeliveries, DELIVERY_MS } from '../notify/deliveries.js';
import { sendMail } from '../notify/mail.js';
import { postWebhook, WEBHOOK_TERMS } from '../notify/webhook.js';
import type { LedgerState } from '../quota/ledger.js';
import { isNearLimit, limitOf } from '../quota/policy.js';
import { type Notice, noticeOfAccount } from './notice.js';
import { noticeMail } from './notice-mail.js';

export interface Notifier {
  /** Begins the deliveries and returns at once. */
  tell(notice: Notice | null): void;
  /** Tells of 80 % of the limit: once per account, period and limit, over all processes that share the state folder. */
  tellNearLimit(account: string, state: LedgerState | null, run: Notice['run']): void;
  /** Waits for deliveries under way: 10 s at most, 2 s after a signal. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  readonly settings: Settings;
  /** Where it is remembered what was told once. */
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
  const deliveries = createDeliveries(log, 'notification');
  const seen = new Set<string>();
  const claims = new Set<Promise<void>>();

  function begin(notice: Notice): Promise<boolean>[] {
    const facts = { event: notice.event, run: notice.run.id };
    const begun: Promise<boolean>[] = [];
    if (url !== null) {
      const message = { url, content: notice, secret };
      begun.push(deliveries.begin('webhook', facts, () => postWebhook(message, { ...WEBHOOK_TERMS, clock })));
    }
    if (to.length > 0 && smtpUrl !== null) {
      const server = { url: smtpUrl, allowsPlain: settings.allowHttp || isLoopbackUrl(smtpUrl) };
      const message = { from, to, ...noticeMail(notice) };
      begun.push(deliveries.begin('e-mail', facts, () => sendMail(server, message)));
    }
    return begun;
  }

  /** What could not be delivered anywhere is told again by the next who notices. */
  async function tellOnce(name: string, notice: Notice): Promise<void> {
    const mark = join(options.stateFolder, 'notified', name);
    if (!(await claimMark(mark))) return;
    const begun = begin(notice);
    const delivered = await Promise.all(begun);
    if (!delivered.includes(true)) await rm(mark, { force: true }).catch(() => undefined);
  }

  return {
    tell(notice) {
      if (notice !== null && notifyOn.includes(notice.event)) begin(notice);
    },
    tellNearLimit(account, state, run) {
      if (state === null || !notifyOn.includes('limit') || !isNearLimit(state)) return;
      if (url === null && to.length === 0) return;
      const name = hashOf(`${account}\n${state.period}\n${limitOf(state)}`);
      if (seen.has(name)) return;
      seen.add(name);
      const scene = { at: clock.now(), isSample: settings.sample, run };
      const claim: Promise<void> = tellOnce(
        name,
        noticeOfAccount('limit', scene, '80 % of the limit is used', state),
      ).finally(() => claims.delete(claim));
      claims.add(claim);
    },
    async close() {
      const atMostMs = stop.aborted ? HURRIED_MS : DELIVERY_MS;
      const all = Promise.all(claims).then(() => deliveries.close(atMostMs));
      await withinDeadline(all, atMostMs);
    },
  };
}

/** False when somebody has it. Where no mark can be made, telling twice is better than not at all. */
async function claimMark(path: string): Promise<boolean> {
  try {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, '', { flag: 'wx' });
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EEXIST');
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
