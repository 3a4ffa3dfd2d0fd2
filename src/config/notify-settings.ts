/**
 * The settings of whom to tell when something has happened that people care about.
 */
import {
  mailAddress,
  mailAddresses,
  NOTIFY_EVENTS,
  notifyEvents,
  notifySecretValue,
  smtpValue,
  webhookValue,
} from './notify-values.js';
import { path } from './parse-value.js';
import type { CommandName } from './setting.js';
import { optional, setting } from './setting.js';

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
