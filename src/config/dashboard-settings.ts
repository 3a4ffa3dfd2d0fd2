/**
 * The settings of the dashboard: where it is served, and the password in front of it.
 */
import { hostValue } from './address-values.js';
import { dashboardPasswordValue } from './dashboard-password.js';
import { count, path, yesOrNo } from './parse-value.js';
import type { CommandName } from './setting.js';
import { optional, setting } from './setting.js';

const SHOWING: readonly CommandName[] = ['up', 'config'];

export const DASHBOARD_SETTINGS = {
  dashboard: setting({
    flag: '--no-dashboard',
    kind: yesOrNo,
    default: 'true',
    group: 'Behaviour',
    commands: SHOWING,
    description: 'do without the dashboard',
  }),
  dashboardPort: setting({
    flag: '--dashboard-port',
    kind: count(0, 65_535),
    default: '8787',
    group: 'Behaviour',
    commands: SHOWING,
    description: 'serve the dashboard on this port; 0 takes a free one',
  }),
  dashboardHost: setting({
    flag: '--dashboard-host',
    kind: hostValue,
    default: '127.0.0.1',
    group: 'Behaviour',
    commands: SHOWING,
    description: 'address to serve it on; one that others reach needs a password of yours',
  }),
  dashboardPassword: optional({
    flag: null,
    env: 'BRAND_ENRICH_DASHBOARD_PASSWORD',
    kind: dashboardPasswordValue,
    group: 'Behaviour',
    commands: SHOWING,
    secrecy: 'secret',
    defaultNote: 'a random one at each start',
    description: 'what opens it; has no flag, because command lines are seen by others',
  }),
  dashboardPasswordFile: optional({
    flag: '--dashboard-password-file',
    kind: path('FILE'),
    group: 'Behaviour',
    commands: SHOWING,
    secrecy: 'token path',
    description: 'a file that holds that password and nothing else',
  }),
} as const;
