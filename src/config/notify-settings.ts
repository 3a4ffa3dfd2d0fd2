/**
 * The settings of whom to tell when something has happened that people care about.
 */

import { nearest } from '../core/nearest.js';
import { accepted, eachText, oneText, path, refused, type ValueKind } from './parse-value.js';
import { notifySecretValue } from './secrets.js';
import { type CommandName, optional, setting } from './setting.js';

/** What people and programs can be told of. */
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

/** An http or https address as it is, query included: receivers put a secret of theirs there, or into the path. */
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

const TELLING: readonly CommandName[] = ['run', 'watch', 'up', 'config'];

export const NOTIFY_SETTINGS = {
  notifyUrl: optional({
    flag: '--notify-url',
    kind: webhookValue,
    group: 'Notifications',
    commands: TELLING,
    secrecy: 'origin',
    defaultNote: 'no webhook',
    description: 'a webhook that is sent what has happened, as JSON',
  }),
  notifySecret: optional({
    flag: null,
    env: 'BRAND_ENRICH_NOTIFY_SECRET',
    kind: notifySecretValue,
    group: 'Notifications',
    commands: TELLING,
    secrecy: 'secret',
    defaultNote: 'not signed',
    description: 'what webhooks are signed with; has no flag, because command lines are seen by others',
  }),
  notifySecretFile: optional({
    flag: '--notify-secret-file',
    kind: path('FILE'),
    group: 'Notifications',
    commands: TELLING,
    secrecy: 'token path',
    description: 'a file that holds that secret and nothing else',
  }),
  notifyEmail: setting({
    flag: '--notify-email',
    kind: mailAddresses,
    default: '',
    group: 'Notifications',
    commands: TELLING,
    defaultNote: 'no e-mail',
    description: 'who is told by e-mail; repeatable',
  }),
  notifyFrom: optional({
    flag: '--notify-from',
    kind: mailAddress,
    group: 'Notifications',
    commands: TELLING,
    defaultNote: 'the first address that is told',
    description: 'whom those e-mails come from',
  }),
  smtpUrl: optional({
    flag: '--smtp-url',
    kind: smtpValue,
    group: 'Notifications',
    commands: TELLING,
    secrecy: 'address',
    description: 'the mail server they go through; with a password better in the environment',
  }),
  notifyOn: setting({
    flag: '--notify-on',
    kind: notifyEvents,
    default: NOTIFY_EVENTS.join(','),
    group: 'Notifications',
    commands: TELLING,
    description:
      'what is worth telling: finished, failed, 80 % of the limit used, parked for quota or budget',
  }),
} as const;
