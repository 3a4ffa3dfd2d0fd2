/**
 * The settings of schedules: when they are due. What they run follows `--` and has the flags of `run`.
 */
import { text, yesOrNo } from './parse-value.js';
import type { CommandName } from './setting.js';
import { optional, setting } from './setting.js';

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
