/**
 * The settings of dashboard, metrics and traces. OpenTelemetry's own variables are for all programs
 * of a machine: an unusable value in one stops nothing and is reported by `traceTarget`; only what
 * is meant for this program alone is refused. Headers, certificates and the description of the
 * process (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` …) are read by OpenTelemetry's own
 * library alone.
 */
import { hostValue } from './address-values.js';
import { accepted, count, oneText, path, refused, text, type ValueKind, yesOrNo } from './parse-value.js';
import { dashboardPasswordValue } from './secrets.js';
import { type CommandName, optional, setting } from './setting.js';

const SHOWING = { group: 'Behaviour', commands: ['up', 'config'] } as const;

export const DASHBOARD_SETTINGS = {
  dashboard: setting({
    flag: '--no-dashboard',
    kind: yesOrNo,
    default: 'true',
    ...SHOWING,
    description: 'do not serve the dashboard',
  }),
  dashboardPort: setting({
    flag: '--dashboard-port',
    kind: count(0, 65_535),
    default: '8787',
    ...SHOWING,
    description: 'serve the dashboard on this port; 0 takes a free one',
  }),
  dashboardHost: setting({
    flag: '--dashboard-host',
    kind: hostValue,
    default: '127.0.0.1',
    ...SHOWING,
    description: 'address to serve it on; one that others can reach needs a password',
  }),
  dashboardPassword: optional({
    flag: null,
    env: 'BRAND_ENRICH_DASHBOARD_PASSWORD',
    kind: dashboardPasswordValue,
    ...SHOWING,
    secrecy: 'secret',
    defaultNote: 'a random one at each start',
    description: 'password of the dashboard; no flag, because others can see command lines',
  }),
  dashboardPasswordFile: optional({
    flag: '--dashboard-password-file',
    kind: path('FILE'),
    ...SHOWING,
    secrecy: 'token path',
    description: 'file that holds the password of the dashboard and nothing else',
  }),
} as const;

const WATCHED = {
  group: 'Behaviour',
  commands: ['run', 'watch', 'up', 'worker', 'schedule serve', 'config'],
} as const;

export const METRICS_SETTINGS = {
  metricsPort: optional({
    flag: '--metrics-port',
    kind: count(0, 65_535),
    ...WATCHED,
    defaultNote: 'not served; 9464 with up',
    description: 'serve /metrics (Prometheus), /healthz and /readyz on this port; 0 takes a free one',
  }),
  metricsHost: setting({
    flag: '--metrics-host',
    kind: hostValue,
    default: '127.0.0.1',
    ...WATCHED,
    description: 'address to serve them on; there is no password',
  }),
} as const;

/**
 * An http or https address; credentials in it are sent as such. Show it through `maskAddress` only.
 */
const collectorValue: ValueKind<string> = oneText('URL', (seen) =>
  isHttpAddress(seen)
    ? accepted(seen)
    : refused('an http or https address', 'that of a collector for OTLP over HTTP: http://127.0.0.1:4318'),
);

const TRACED: readonly CommandName[] = ['run', 'watch', 'up', 'worker', 'schedule serve', 'config'];
const SHARED = { group: 'Behaviour', commands: TRACED } as const;

export const TELEMETRY_SETTINGS = {
  otelEndpoint: optional({
    ...SHARED,
    flag: '--otel-endpoint',
    kind: collectorValue,
    secrecy: 'address',
    defaultNote: 'no traces',
    description: 'send OpenTelemetry traces to this collector (OTLP over HTTP), at /v1/traces below it',
  }),
  otelTracesEndpoint: optional({
    ...SHARED,
    flag: null,
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    kind: text('URL'),
    secrecy: 'address',
    description: 'the whole address to send traces to, when --otel-endpoint is not given',
  }),
  otelSharedEndpoint: optional({
    ...SHARED,
    flag: null,
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: text('URL'),
    secrecy: 'address',
    description: 'like --otel-endpoint, when neither of the two is given',
  }),
  otelDisabled: optional({
    ...SHARED,
    flag: null,
    env: 'OTEL_SDK_DISABLED',
    kind: text('true'),
    description: 'true: no traces, whatever the others say',
  }),
} as const;

/** What `traceTarget` needs to know. */
export interface TraceSettings {
  readonly otelEndpoint: string | null;
  readonly otelTracesEndpoint: string | null;
  readonly otelSharedEndpoint: string | null;
  readonly otelDisabled: string | null;
}

type TraceTarget =
  /** The whole address that traces are sent to. May hold credentials. */
  | { readonly type: 'send'; readonly url: string }
  | { readonly type: 'off' }
  /** `variable` holds what is no http or https address. */
  | { readonly type: 'unusable'; readonly variable: string };

/**
 * Where traces go. The rules are those of OpenTelemetry ("OpenTelemetry Protocol Exporter",
 * endpoint URLs): an address of all signals has `v1/traces` appended below its path, one of traces
 * alone is taken as it is; `OTEL_SDK_DISABLED` counts only as `true`, in any case.
 */
export function traceTarget(settings: TraceSettings): TraceTarget {
  const { otelEndpoint, otelTracesEndpoint, otelSharedEndpoint, otelDisabled } = settings;
  if (otelDisabled?.trim().toLowerCase() === 'true') return { type: 'off' };
  if (otelEndpoint !== null) return { type: 'send', url: belowPath(otelEndpoint) };
  if (otelTracesEndpoint !== null) {
    return isHttpAddress(otelTracesEndpoint)
      ? { type: 'send', url: otelTracesEndpoint }
      : { type: 'unusable', variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' };
  }
  if (otelSharedEndpoint === null) return { type: 'off' };
  return isHttpAddress(otelSharedEndpoint)
    ? { type: 'send', url: belowPath(otelSharedEndpoint) }
    : { type: 'unusable', variable: 'OTEL_EXPORTER_OTLP_ENDPOINT' };
}

function isHttpAddress(seen: string): boolean {
  return URL.canParse(seen) && /^https?:$/.test(new URL(seen).protocol);
}

function belowPath(address: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}
