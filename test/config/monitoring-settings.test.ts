import { describe, expect, it } from 'vitest';
import { showConfig } from '../../src/commands/config.js';
import { traceTarget } from '../../src/config/address-values.js';
import { NeverStartError } from '../../src/core/errors.js';
import { load as loadWith, SERVICE } from './refusal.js';

const SECRET = 'Sesame9OpenTheDoor';

const load = (flags: Record<string, unknown>, env: Record<string, string>) =>
  loadWith({ flags, env: { ...SERVICE, ...env } });

const OWN = { BRAND_ENRICH_OTEL_ENDPOINT: 'http://own:4318' };
const TRACES = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/in?key=1' };
const SHARED = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://shared:4318/otlp/' };
const OFF = { type: 'off' };
const to = (url: string) => ({ type: 'send', url });
const unusable = (variable: string) => ({ type: 'unusable', variable });

describe('the destination of traces', () => {
  it.each([
    ['nowhere by default', {}, {}, OFF],
    ['below the path of our own address', {}, OWN, to('http://own:4318/v1/traces')],
    [
      'to the flag rather than the variable',
      { otelEndpoint: 'https://flag' },
      OWN,
      to('https://flag/v1/traces'),
    ],
    [
      'to our own address rather than to that of OpenTelemetry',
      {},
      { ...OWN, ...TRACES, ...SHARED },
      to('http://own:4318/v1/traces'),
    ],
    ['to the address for traces unchanged', {}, { ...TRACES, ...SHARED }, to('http://traces:4318/in?key=1')],
    ['below the path of the address for all signals', {}, SHARED, to('http://shared:4318/otlp/v1/traces')],
    [
      'with credentials, which are kept',
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:b@c' },
      to('http://a:b@c/v1/traces'),
    ],
    ['nowhere when OpenTelemetry is disabled', {}, { ...OWN, OTEL_SDK_DISABLED: 'True' }, OFF],
    [
      'on when OTEL_SDK_DISABLED is not exactly true',
      {},
      { ...OWN, OTEL_SDK_DISABLED: 'yes' },
      to('http://own:4318/v1/traces'),
    ],
    ['nowhere when the variable is empty', {}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, OFF],
    [
      'nowhere when the address of OpenTelemetry is invalid',
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://c:4317' },
      unusable('OTEL_EXPORTER_OTLP_ENDPOINT'),
    ],
    [
      'nowhere when the exporter for traces is none',
      {},
      { ...SHARED, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'c:4317' },
      unusable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'),
    ],
  ])('%s', (_, flags, env, expected) => {
    expect(traceTarget(load(flags, env).settings)).toEqual(expected);
  });
});

it.each(['collector:4318', 'grpc://collector:4317', '/var/run/otel.sock'])(
  'refuses an invalid address from its own setting: %s',
  (otelEndpoint) => {
    expect(() => load({ otelEndpoint }, {})).toThrow(NeverStartError);
    expect(() => load({}, { BRAND_ENRICH_OTEL_ENDPOINT: otelEndpoint })).toThrow('an http or https address');
  },
);

it('hides credentials and queries in all addresses', () => {
  const address = `http://ada:${SECRET}@collector:4318/x?key=${SECRET}`;
  const loaded = load(
    { otelEndpoint: address },
    { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address },
  );
  const shown = showConfig(loaded, null);
  expect(shown).toContain('http://***@collector:4318/x?…');
  expect(shown).not.toContain(SECRET);
  expect(() => load({ otelEndpoint: `ftp://${SECRET}@h/?${SECRET}` }, {})).toThrow('"ftp://***@h?…"');
});
