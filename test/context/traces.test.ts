/** What a process sends to a collector, and how it behaves while the collector is down. */
import { SpanKind } from 'bullmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTraces, type Traces } from '../../src/context/traces.js';
import { EXIT, FailFileError } from '../../src/core/errors.js';
import { openLog, silentLog } from '../../src/core/log.js';
import type { LookupsEnd } from '../../src/run/run-end.js';
import type { Scan } from '../../src/run/scan/scan.js';
import { resultOf } from '../commands/results.js';
import { answering } from '../support/answering-client.js';
import { halted } from '../support/halts.js';
import { type Collector, startCollector } from './collector.js';
import { readLog, temporaryLog } from './log-lines.js';

const RESULT = resultOf({
  rows: { matched: 7, not_found: 2, skipped: 1 },
  scan: { answers: { wanted: 8 } as Scan['answers'] },
  tally: { billed: 8 },
});
const finishes = async () => RESULT;

async function collecting(): Promise<Collector> {
  const collector = await startCollector();
  onTestFinished(() => collector.stop());
  return collector;
}

/** A test closes it to see what was sent; otherwise it closes at the end. */
function tracesTo(collector: Collector, log = silentLog()): Traces {
  const traces = createTraces({ url: `${collector.url}/v1/traces`, log });
  onTestFinished(() => traces.close());
  return traces;
}

/** Processes a job whose options carry `metadata`, like BullMQ does. */
async function process({ telemetry }: Traces, metadata: string, work: () => Promise<void>): Promise<void> {
  const { tracer, contextManager } = telemetry;
  const parent = contextManager.fromMetadata(contextManager.active(), metadata);
  const span = tracer.startSpan('process lookups', { kind: SpanKind.CONSUMER }, parent);
  await contextManager.with(span.setSpanOnContext(parent), work);
  span.end();
}

const ACME = { kind: 'domain', value: 'acme.com' } as const;
const OPTIONS = { allowNsfw: 'unset', freeStatuses: [] } as const;
const MATCHED = {
  meaning: { type: 'matched', body: Buffer.from('{}'), text: '{}', brand: {} },
  cost: 'billed',
} as const;
const UNAVAILABLE = {
  meaning: { type: 'unavailable', reason: 'secret-word', retryAfterMs: null },
  cost: 'free',
} as const;

describe('a run', () => {
  it.each<[number, LookupsEnd, boolean]>([
    [EXIT.someFailed, { type: 'finished' }, false],
    [EXIT.limit, halted('limit'), false],
    [EXIT.interrupted, { type: 'stopped' }, false],
    [EXIT.tooManyErrors, { type: 'too_many_failures' }, true],
    [EXIT.credentials, halted('credentials'), true],
    [EXIT.ioError, halted('lost'), true],
  ])('with exit code %i (%j) is marked as failed: %s', async (exitCode, end, hasFailed) => {
    const collector = await collecting();
    const traces = tracesTo(collector);
    await traces.traceRun('redis', true, async () => resultOf({ end, rows: { matched: 1, invalid: 1 } }));
    await traces.close();
    expect(collector.spans).toMatchObject([
      { hasFailed, attributes: { 'brand_enrich.exit_code': exitCode } },
    ]);
  });

  it.each([
    [new FailFileError({ code: 'input-missing', subject: 'secret-word.csv', todo: 'look' }), 'input-missing'],
    [new TypeError('secret-word is not a function'), 'bug'],
  ])('that throws is marked as failed with a code only: %s', async (error, type) => {
    const collector = await collecting();
    const traces = tracesTo(collector);
    const run = traces.traceRun('embedded', false, () => Promise.reject(error));
    await expect(run).rejects.toBe(error);
    await traces.close();
    expect(collector.spans).toMatchObject([{ hasFailed: true, attributes: { 'error.type': type } }]);
    expect(collector.received).not.toContain('secret-word');
  });

  it('starts its own trace in any context; two runs have two traces', async () => {
    const collector = await collecting();
    const traces = tracesTo(collector);
    await traces.traceRun('redis', false, () => traces.traceRun('redis', false, finishes));
    await traces.close();
    expect(collector.spans.map(({ parentSpanId }) => parentSpanId)).toEqual(['', '']);
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(2);
  });
});

describe('a chunk', () => {
  it('records its own outcomes only', async () => {
    const collector = await collecting();
    const traces = tracesTo(collector);
    const client = traces.watchClient(answering(MATCHED, MATCHED, UNAVAILABLE));
    const lookup = async () => {
      await client.lookup(ACME, OPTIONS);
    };
    await lookup();
    await lookup();
    await lookup();
    await Promise.all([
      process(traces, '{}', async () => {
        await lookup();
        await lookup();
        await lookup();
      }),
      process(traces, '{}', async () => undefined),
    ]);
    await traces.close();
    const [idle, busy] = collector.spansNamed('process').map(({ attributes }) => attributes);
    expect(busy).toMatchObject({
      'brand_enrich.lookups.matched': 2,
      'brand_enrich.lookups.unavailable': 1,
      'brand_enrich.billed': 2,
      'brand_enrich.lookup.longest_ms': expect.any(Number),
    });
    expect(idle).not.toHaveProperty('brand_enrich.billed');
    expect(collector.received).not.toMatch(/acme|secret-word/);
  });

  it('records no results, reasons or error messages', async () => {
    const collector = await collecting();
    const traces = tracesTo(collector);
    const span = traces.telemetry.tracer.startSpan('process lookups', { kind: SpanKind.CONSUMER });
    span.setAttributes({ 'bullmq.job.result': 'secret-word', 'bullmq.job.id': 'r-1-0' });
    span.setAttribute('bullmq.job.failed.reason', 'secret-word');
    span.addEvent('job completed', { 'bullmq.job.result': 'secret-word' });
    span.addEvent('job failed', { 'bullmq.job.failed.reason': 'secret-word' });
    span.recordException(new RangeError('secret-word'));
    span.end();
    await traces.close();
    expect(collector.received).not.toContain('secret-word');
    expect(collector.spans).toMatchObject([
      { attributes: { 'bullmq.job.id': 'r-1-0' }, hasFailed: true, events: ['job failed', 'exception'] },
    ]);
  });

  it.each(['getNextJob lookups', 'extendLocks lookups', 'moveStalledJobsToWait lookups', 'complete lookups'])(
    'is not surrounded by maintenance spans: %s',
    async (name) => {
      const collector = await collecting();
      const traces = tracesTo(collector);
      const { tracer, contextManager } = traces.telemetry;
      const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL });
      expect(span.setSpanOnContext(contextManager.active())).toBe(contextManager.active());
      span.addEvent('something');
      span.end();
      await traces.close();
      expect(collector.requests).toEqual([]);
    },
  );
});

describe('a collector', () => {
  async function runAndClose(collector: Collector) {
    const log = await temporaryLog();
    const traces = tracesTo(collector, openLog({ level: 'info', file: log }).log);
    expect(await traces.traceRun('redis', false, finishes)).toBe(RESULT);
    await traces.close();
    return readLog(log);
  }

  it('that answers causes no log line', async () => {
    expect(await runAndClose(await collecting())).toEqual([]);
  });

  it.each([
    [401, 'status 401'],
    [503, 'no good answer in time'],
    ['silent', 'no good answer in time'],
  ] as const)('that answers %s causes one log line', async (answers, reason) => {
    const collector = await collecting();
    collector.answers = answers;
    expect(await runAndClose(collector)).toMatchObject([
      {
        level: 40,
        msg: 'traces cannot be delivered; everything else continues',
        reason,
        collector: `${collector.url}/v1/traces`,
      },
    ]);
  });

  it('that is unreachable causes one log line', async () => {
    const collector = await startCollector();
    await collector.stop();
    expect(await runAndClose(collector)).toMatchObject([
      { level: 40, reason: expect.stringMatching(/^nothing listens at/) },
    ]);
  });
});
