/**
 * The settings of notifications, and the kinds of values they take. Nothing here quotes a secret.
 */

import { nearest } from '../core/nearest.js';
import { accepted, eachText, oneText, path, refused, type ValueKind } from './parse-value.js';
import { notifySecretValue } from './secrets.js';
import { optional, setting } from './setting.js';

/** Events that people and programs can be notified of. */
const NOTIFY_EVENTS = ['finish', 'failure', 'limit', 'parked'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

const ALL_EVENTS = NOTIFY_EVENTS.join(',');

/** Some of `NOTIFY_EVENTS`. */
const notifyEvents: ValueKind<readonly NotifyEvent[]> = eachText('list', ALL_EVENTS, (seen) => {
  const found = NOTIFY_EVENTS.find((each) => each === seen);
  if (found !== undefined) return accepted(found);
  return refused(
    `one of ${NOTIFY_EVENTS.join(', ')}`,
    `some of them, separated by commas, for example ${ALL_EVENTS}`,
    nearest(seen, NOTIFY_EVENTS),
  );
});

/**
 * An http or https address as it is, query included: receivers put a secret there, or into the
 * path.
 */
const webhookValue: ValueKind<string> = oneText('URL', (seen) => {
  const url = URL.canParse(seen) ? new URL(seen) : null;
  const isRight = url !== null && /^https?:$/.test(url.protocol);
  if (!isRight)
    return refused('an http or https address', 'all of it, for example https://hooks.example.com/brands');
  return url.username === '' && url.password === ''
    ? accepted(seen)
    : refused('an address without credentials', 'it without them; a signature proves who sends');
});

/** `smtp://` or `smtps://`. May hold a password: show it through `maskAddress` only. */
const smtpValue: ValueKind<string> = oneText('URL', (seen) => {
  const url = URL.canParse(seen) ? new URL(seen) : null;
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
    ? accepted(seen)
    : refused('the address of a mail server', 'it as smtp://user:password@mail.example.com:587 or smtps://…');
});

const MAIL_EXAMPLE = 'an address alone, for example data-team@example.com';

function parseMailAddress(seen: string) {
  return /^[^\s@<>,;"]{1,64}@[A-Za-z0-9.-]{1,253}$/.test(seen)
    ? accepted(seen)
    : refused('an e-mail address', MAIL_EXAMPLE);
}

const mailAddress: ValueKind<string> = oneText('ADDRESS', parseMailAddress);
const mailAddresses: ValueKind<readonly string[]> = eachText('repeated', 'ADDRESS', parseMailAddress);

const NOTIFYING = { group: 'Notifications', commands: ['run', 'watch', 'up', 'config'] } as const;

export const NOTIFY_SETTINGS = {
  notifyUrl: optional({
    flag: '--notify-url',
    kind: webhookValue,
    ...NOTIFYING,
    secrecy: 'origin',
    defaultNote: 'no webhook',
    description: 'webhook that is notified of events, as JSON',
  }),
  notifySecret: optional({
    flag: null,
    env: 'BRAND_ENRICH_NOTIFY_SECRET',
    kind: notifySecretValue,
    ...NOTIFYING,
    secrecy: 'secret',
    defaultNote: 'not signed',
    description: 'secret that webhooks are signed with; no flag, because others can see command lines',
  }),
  notifySecretFile: optional({
    flag: '--notify-secret-file',
    kind: path('FILE'),
    ...NOTIFYING,
    secrecy: 'token path',
    description: 'file that holds the secret of webhooks and nothing else',
  }),
  notifyEmail: setting({
    flag: '--notify-email',
    kind: mailAddresses,
    default: '',
    ...NOTIFYING,
    defaultNote: 'no e-mail',
    description: 'who is notified by e-mail; repeatable',
  }),
  notifyFrom: optional({
    flag: '--notify-from',
    kind: mailAddress,
    ...NOTIFYING,
    defaultNote: 'the first --notify-email',
    description: 'sender of those e-mails',
  }),
  smtpUrl: optional({
    flag: '--smtp-url',
    kind: smtpValue,
    ...NOTIFYING,
    secrecy: 'address',
    description: 'mail server that sends them; if it has a password, better set in the environment',
  }),
  notifyOn: setting({
    flag: '--notify-on',
    kind: notifyEvents,
    default: NOTIFY_EVENTS.join(','),
    ...NOTIFYING,
    description: 'events to notify of: finished, failed, 80 % of the limit used, parked for quota or budget',
  }),
} as const;
