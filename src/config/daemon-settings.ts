/**
 * The settings of what runs on: inboxes and schedules. What a schedule runs follows `--` and has
 * the flags of `run`.
 */
import { count, duration, paths, text, yesOrNo } from './parse-value.js';
import { optional, setting } from './setting.js';

const WATCHING = { group: 'Inbox', commands: ['watch', 'up', 'config'] } as const;

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
    ...WATCHING,
    description: 'take a file when its size and time have not changed for this long',
  }),
  pollMs: optional({
    flag: '--poll',
    kind: duration('100ms', '1h'),
    ...WATCHING,
    defaultNote: 'the system reports changes',
    description: 'look this often instead: for network shares, which report no changes',
  }),
  filesAtOnce: setting({
    flag: '--files-at-once',
    kind: count(1, 64),
    default: '4',
    ...WATCHING,
    description: 'files processed at once, per watcher',
  }),
} as const;

const ADDING = { group: 'Schedules', commands: ['schedule add'] } as const;

export const SCHEDULE_SETTINGS = {
  cron: optional({
    flag: '--cron',
    env: null,
    isInFile: false,
    kind: text('CRON'),
    ...ADDING,
    description: "when it is due: '0 2 * * *' is 02:00 every night; with six fields the first is seconds",
  }),
  tz: optional({
    flag: '--tz',
    env: null,
    isInFile: false,
    kind: text('ZONE'),
    ...ADDING,
    defaultNote: "this machine's",
    description: 'time zone of --cron, {date} and {time}, for example Europe/Berlin',
  }),
  catchUp: setting({
    flag: '--catch-up',
    env: null,
    isInFile: false,
    kind: yesOrNo,
    default: 'false',
    ...ADDING,
    description: 'if the machine was off at the time, run once when it is back',
  }),
} as const;
