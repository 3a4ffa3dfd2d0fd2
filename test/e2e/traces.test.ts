/**
 * Traces of real processes, as a collector sees them: one trace per run, in whichever process its
 * chunks are processed, without private data. Without an address nothing is sent; with an
 * unreachable one everything else works.
 */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Collector, type SpanSeen, startCollector } from '../context/collector.js';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readReport } from '../support/output-files.js';
import { createScene, describeOn, domainList, type Scene } from '../support/scene.js';

const PRELOAD = new URL('../context/loaded-modules.mjs', import.meta.url);
/** Only traces need these. */
const TRACING = /@opentelemetry\/(sdk-|exporter-|otlp-|resources|core|context-)|bullmq-otel/;

async function collecting(): Promise<Collector> {
  const collector = await startCollector();
  onTestFinished(() => collector.stop());
  return collector;
}

/** Sum of one attribute over all spans. */
function sumOf(spans: readonly SpanSeen[], name: string): number {
  return spans.reduce((sum, { attributes }) => sum + Number(attributes[`brand_enrich.${name}`] ?? 0), 0);
}

/** Every span belongs to the run's trace, and has another one of it as parent. */
function expectOneTrace(collector: Collector): SpanSeen {
  const [run, ...others] = collector.spansNamed('run');
  if (run === undefined) throw new Error('there is no span of a run');
  expect(others).toEqual([]);
  expect(run.parentSpanId).toBe('');
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([run.traceId]));
  const ids = new Set(collector.spans.map(({ spanId }) => spanId));
  const loose = collector.spans.filter((span) => span !== run && !ids.has(span.parentSpanId));
  expect(loose).toEqual([]);
  return run;
}

function expectNoWords(collector: Collector, scene: Scene): void {
  for (const word of [
    'shop-0',
    'customers',
    'row 1',
    'Ünïted',
    scene.token,
    scene.folder,
    scene.service.url,
  ]) {
    expect(collector.received).not.toContain(word);
  }
}

describeOn([inLongTests(embeddedEngine()), redisEngine(), inLongTests(postgresEngine())], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  test('a run is one trace, parked chunks included, and contains no row, brand, token or path', async () => {
    const collector = await collecting();
    const scene = await createScene(engine, { faults: { unavailable: 0.3, damaged: 0.05 } });
    scene.service.options.alwaysStatus = 503;
    await scene.write('customers.csv', domainList(120, 'shop'));
    const running = scene.start(['run', 'customers.csv', '--otel-endpoint', collector.url]);
    await expect.poll(() => collector.spansNamed('process').length).toBeGreaterThan(0);
    scene.service.options.alwaysStatus = null;
    const result = await running.done;
    const report = await readReport(scene.path('customers.report.json'));
    expect(result.code, result.stderr).toBe(report.run.exitCode);
    const run = expectOneTrace(collector);
    expect(run).toMatchObject({
      hasFailed: false,
      attributes: {
        'brand_enrich.run.id': report.run.id,
        'brand_enrich.engine': engine.name,
        'brand_enrich.rows': 120,
        'brand_enrich.identifiers': 120,
        'brand_enrich.rows.matched': report.rows.matched,
        'brand_enrich.rows.failed': report.rows.failed,
        'brand_enrich.billed': report.requests.billed,
        'brand_enrich.exit_code': result.code,
      },
    });
    const chunks = collector.spansNamed('process');
    expect(chunks.length).toBeGreaterThan(3);
    expect(sumOf(chunks, 'lookups.matched')).toBe(report.rows.matched);
    expect(sumOf(chunks, 'lookups.not_found')).toBe(report.rows.not_found);
    expect(sumOf(chunks, 'lookups.unavailable')).toBeGreaterThan(0);
    expect(sumOf(chunks, 'billed')).toBe(report.requests.billed);
    expectNoWords(collector, scene);
  });
});

const redis = redisEngine();
describe.skipIf(redis.missing !== null)('on redis', () => {
  beforeAll(() => redis.start());
  afterAll(() => redis.stop());

  test('a run and the worker of another process are one trace', async () => {
    const collector = await collecting();
    const scene = await createScene(redis);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const worker = scene.start(['worker'], { ...env, OTEL_SERVICE_NAME: 'brand-workers' });
    await worker.untilSaid(/waiting for chunks/);
    await scene.write('customers.csv', domainList(120, 'shop'));
    const result = await scene.run(['run', 'customers.csv', '--no-worker'], env);
    expect(result.code, result.stderr).toBe(0);
    worker.kill('SIGTERM');
    expect((await worker.done).code).toBe(0);
    const run = expectOneTrace(collector);
    const chunks = collector.spansNamed('process');
    expect(chunks).toHaveLength(3);
    expect(sumOf(chunks, 'billed')).toBe(120);
    expect(chunks.map(({ resource }) => resource['process.pid'])).toEqual([
      worker.pid,
      worker.pid,
      worker.pid,
    ]);
    expect(chunks[0]?.resource).toMatchObject({ 'service.name': 'brand-workers', 'host.name': hostname() });
    expect(run.resource['process.pid']).not.toBe(worker.pid);
    expect(run.resource['service.name']).toBe('brand-enrich');
    expectNoWords(collector, scene);
  });

  test('headers and credentials are sent to the collector only', { tags: ['long'] }, async () => {
    const collector = await collecting();
    const scene = await createScene(redis);
    await scene.write('customers.csv', domainList(5, 'shop'));
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace('//', '//ada:sesame-1@'),
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=sesame-2',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    };
    const args = ['run', 'customers.csv', '--log-level', 'trace'];
    const result = await scene.run(args, env);
    const config = await scene.run(['config'], env);
    collector.answers = 401;
    const refused = await scene.run([...args, '--refresh'], env);
    expect([result.code, refused.code]).toEqual([0, 0]);
    expect(refused.stderr).toContain('status 401');
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-team': 'sesame-2', authorization: `Basic ${btoa('ada:sesame-1')}` },
    });
    expect(collector.spans[0]?.resource['deployment.environment.name']).toBe('test');
    const shown = [result, config, refused].map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(shown).not.toContain('sesame');
  });

  test.each([
    ['without an address', {}, false],
    ['with one', { BRAND_ENRICH_OTEL_ENDPOINT: '' }, true],
    ['when OpenTelemetry is disabled', { BRAND_ENRICH_OTEL_ENDPOINT: '', OTEL_SDK_DISABLED: 'true' }, false],
  ])('%s: what is loaded and sent', async (_, said, isTraced) => {
    const collector = await collecting();
    const scene = await createScene(redis);
    await scene.write('customers.csv', domainList(5, 'shop'));
    const list = scene.path('loaded.txt');
    const env = {
      ...Object.fromEntries(Object.entries(said).map(([name, value]) => [name, value || collector.url])),
      NODE_OPTIONS: `--import ${PRELOAD.href}`,
      LOADED_MODULES: list,
    };
    const result = await scene.run(['run', 'customers.csv'], env);
    expect(result.code, result.stderr).toBe(0);
    expect(TRACING.test(await readFile(list, 'utf8'))).toBe(isTraced);
    expect(collector.spans.length > 0).toBe(isTraced);
  });

  test('an invalid address in an OpenTelemetry variable costs a log line; one in our own setting is refused', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(redis);
    await scene.write('customers.csv', domainList(5, 'shop'));
    const theirs = await scene.run(['run', 'customers.csv'], {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
    });
    expect(theirs.code, theirs.stderr).toBe(0);
    expect(theirs.stderr).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect((await scene.run(['run', 'customers.csv', '--otel-endpoint', 'collector:4317'])).code).toBe(2);
  });
});
