/**
 * The settings of what programs watch this one with.
 */
import { hostValue } from './address-values.js';
import { count } from './parse-value.js';
import type { CommandName } from './setting.js';
import { optional, setting } from './setting.js';

const WATCHED: readonly CommandName[] = ['run', 'watch', 'up', 'worker', 'schedule serve', 'config'];

export const METRICS_SETTINGS = {
  metricsPort: optional({
    flag: '--metrics-port',
    kind: count(0, 65_535),
    group: 'Behaviour',
    commands: WATCHED,
    defaultNote: 'not served; 9464 with up',
    description: 'serve /metrics (Prometheus), /healthz and /readyz on this port; 0 takes a free one',
  }),
  metricsHost: setting({
    flag: '--metrics-host',
    kind: hostValue,
    default: '127.0.0.1',
    group: 'Behaviour',
    commands: WATCHED,
    description: 'address to serve them on; there is no password',
  }),
} as const;
