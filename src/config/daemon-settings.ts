/**
 * The settings of inboxes: when a file is taken, and how many at once.
 */
import { count, duration, paths, text, yesOrNo } from './parse-value.js';
import { type CommandName, optional, setting } from './setting.js';

const WATCHING: readonly CommandName[] = ['watch', 'up', 'config'];

export const INBOX_SETTINGS = {
  inboxes: setting({
    flag: '--inbox',
    kind: paths('DIR'),
    default: '',
    group: 'Inbox',
    commands: ['up', 'config'],
    defaultNote: 'none',
    description: 'a folder to watch; repeat it for several',
  }),
  settleMs: setting({
    flag: '--settle',
    kind: duration('100ms', '1h'),
    default: '2s',
    group: 'Inbox',
    commands: WATCHING,
    description: 'a file is taken when its size and time have been still for so long',
  }),
  pollMs: optional({
    flag: '--poll',
    kind: duration('100ms', '1h'),
    group: 'Inbox',
    commands: WATCHING,
    defaultNote: 'the system tells of changes',
    description: 'look so often instead: for network shares, where nothing tells of changes',
  }),
  filesAtOnce: setting({
    flag: '--files-at-once',
    kind: count(1, 64),
    default: '4',
    group: 'Inbox',
    commands: WATCHING,
    description: 'files under way at once, per watcher',
  }),
} as const;

const ADDING: readonly CommandName[] = ['schedule add'];

export const SCHEDULE_SETTINGS = {
  cron: optional({
    flag: '--cron',
    env: null,
    isInFile: false,
    kind: text('CRON'),
    group: 'Schedules',
    commands: ADDING,
    description: "when it is due: '0 2 * * *' is two at night; six fields begin with seconds",
  }),
  tz: optional({
    flag: '--tz',
    env: null,
    isInFile: false,
    kind: text('ZONE'),
    group: 'Schedules',
    commands: ADDING,
    defaultNote: "this machine's",
    description: 'time zone of --cron, {date} and {time}, for example Europe/Berlin',
  }),
  catchUp: setting({
    flag: '--catch-up',
    env: null,
    isInFile: false,
    kind: yesOrNo,
    default: 'false',
    group: 'Schedules',
    commands: ADDING,
    description: 'run once on return when the machine was off at the time',
  }),
} as const;
