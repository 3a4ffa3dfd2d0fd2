/**
 * The library as a program uses it, on real engines, against a service that counts what it bills.
 * The program and the command line share token and engine: neither pays for what the other has.
 */
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createEnricher, type Enriched, type Enricher, type EnricherOptions } from '../../src/index.js';
import { ends, engineOfFile, expectPaidOnce, openEngineOf, statusOf } from '../e2e/commands.js';
import { unknown } from '../e2e/unknown-domains.js';
import { type EngineUnderTest, embeddedEngine, inLongTests, postgresEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene, describeOn, domainAt, domainList, type Scene } from '../support/scene.js';
import { faultsOf } from '../support/schemas.js';

/** Closed with the test. */
async function enricherOf(scene: Scene, options: EnricherOptions = {}): Promise<Enricher> {
  const enricher = await createEnricher({ env: scene.env, ...options });
  onTestFinished(() => enricher.close());
  return enricher;
}

const domains = (count: number) => Array.from({ length: count }, (_, index) => domainAt(index));

async function all<T>(results: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const result of results) found.push(result);
  return found;
}

function statusesOf(found: readonly Pick<Enriched, 'status'>[]) {
  return countStatuses(found.map(({ status }) => ({ brand_status: status })));
}

/** On every engine; every change is tested on one. */
function testStream(engine: EngineUnderTest): void {
  test('rows come back in order with their brands; the quota is used to its last request, the rest is deferred, and nobody pays twice', async () => {
    const scene = await createScene(engine, { quota: 30 });
    const { meter } = scene.service;
    const enricher = await enricherOf(scene);
    const rows = domains(40).flatMap((website, at) => [
      { website: `https://www.${website}/`, at },
      { website, at },
    ]);
    const odd = [
      { website: '', at: -1 },
      { website: 'localhost', at: -2 },
      { website: 'x@gmail.com', at: -3 },
    ];
    const input = [...odd, ...rows];

    const found = await all(enricher.enrich(input, { identifier: (row) => row.website, kind: 'domain' }));
    expect(found.map((row) => row.input)).toEqual(input);
    expectPaidOnce(meter, 30);
    const counts = statusesOf(found);
    expect(counts).toMatchObject({ skipped: 2, invalid: 1, deferred: 20 });
    expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(60);
    for (const row of found) {
      expect(row.brand === null).toBe(row.status !== 'matched');
      if (row.status === 'matched') expect(row).toMatchObject({ kind: 'domain', source: 'api', error: null });
      if (row.status === 'deferred')
        expect(row).toMatchObject({
          stopped: 'limit',
          error: { code: 'limit', message: expect.stringMatching(/^not looked up: /) },
        });
    }

    // The command line finds the same answers, and the same account.
    await scene.write('list.csv', domainList(40));
    await ends(7, scene.run(['run', 'list.csv']));
    expect(meter.billed).toBe(30);
    const partial = await readRows(scene.path('list.enriched.partial.csv'));
    expect(countStatuses(partial)).toMatchObject({ deferred: 10 });

    // What it bought after the quota was raised is there for the program at once.
    scene.service.options.quota = 1_000;
    await ends(0, scene.run(['run', 'list.csv']));
    expect(meter.billed).toBe(40);
    const second = await enricherOf(scene);
    const stored = await all(second.enrich(domains(40)));
    expect(stored.every(({ source }) => source === 'stored')).toBe(true);
    expect(meter.billed).toBe(40);
  });
}

describeOn([embeddedEngine(), postgresEngine()].map(inLongTests), (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  testStream(engine);
});

describe('a program', () => {
  // One server for all: each test has an account of its own there.
  const engine = engineOfFile();

  testStream(engine);

  test('lookups of one moment, equal ones among them and in two enrichers, are paid for once each', async () => {
    const scene = await createScene(engine, { latencyMs: 20 });
    const { meter } = scene.service;
    const [one, two] = await Promise.all([enricherOf(scene), enricherOf(scene)]);
    const asked = [...domains(120), ...domains(120)];
    const found = await Promise.all([one, two].flatMap((each) => asked.map((domain) => each.lookup(domain))));
    expect(found).toHaveLength(480);
    expect(found.every(({ status }) => status === 'matched' || status === 'not_found')).toBe(true);
    expectPaidOnce(meter, 120);
  });

  test('a plan and the account are those of the command line, and cost nothing', async () => {
    const scene = await createScene(engine, { quota: 30 });
    await scene.write('list.csv', `${domainList(20)}no domain,x\n`);
    const enricher = await enricherOf(scene);
    await enricher.lookup(domainAt(0));
    // A brand is handed over as soon as it is kept; its permit is settled in the next exchange.
    await expect.poll(() => enricher.account()).toMatchObject({ quota: 30, used: 1, left: 29, inFlight: 0 });
    const account = await enricher.account();
    const plan = await enricher.plan(scene.path('list.csv'), { column: 'website:domain' });
    expect(faultsOf('plan', plan)).toEqual([]);
    expect(plan).toMatchObject({ requests: { least: 19 }, identifiers: { stored: 1 }, rows: { invalid: 1 } });
    const printed = async (args: string[]) => JSON.parse((await scene.run([...args, '--json'])).stdout);
    expect((await printed(['status'])).account).toEqual(account);
    const { input, ...rest } = await printed(['plan', 'list.csv', '--column', 'website:domain']);
    expect(plan).toMatchObject({ ...rest, files: {}, input: { sha256: input.sha256 } });
    await expect(enricher.plan('-')).rejects.toThrow(/name a file/);
    expect(scene.service.meter.requests).toHaveLength(1);
    expect(await scene.files()).not.toContain('list.enriched.csv');
  });

  test('lookups of a paused run wait, and are made once when it is resumed', async () => {
    const scene = await createScene(engine, { latencyMs: 100 });
    const { meter } = scene.service;
    const enricher = await enricherOf(scene, { concurrency: 4 });
    const found = all(enricher.enrich(domains(80)));
    await scene.service.until(({ billed }) => billed >= 8);
    // Nearly nothing is sent until the run is paused.
    scene.service.options.latencyMs = 1_000;
    const store = await openEngineOf(scene);
    const run = (await store.runs.list(9)).find(({ settings }) => settings.service === scene.service.url);
    const id = run?.id ?? '';
    for (let time = 0; time < 3; time += 1) {
      expect(await store.runs.pause(id, 'ada')).toBe('done');
      await store.runs.resume(run?.owner ?? '');
    }
    await store.runs.pause(id, 'ada');
    await expect.poll(async () => (await store.ledger.show(run?.settings.account ?? '')).held).toBe(0);
    const billed = meter.billed;
    expect(billed).toBeLessThan(80);
    // Longer than a paused lookup waits before it asks again.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(meter.billed).toBe(billed);
    scene.service.options.latencyMs = 0;
    await store.runs.resume(run?.owner ?? '');
    expect(statusesOf(await found)).not.toHaveProperty('deferred');
    expectPaidOnce(meter, 80);
    await expect
      .poll(async () => (await store.runs.get(id))?.tally)
      .toMatchObject({ billed: 80, stored: 0, failed: 0 });
  });

  test('free text is invalid at no cost in a program without a kind', async () => {
    const scene = await createScene(engine);
    const { meter } = scene.service;
    const texts = ['Müller & Söhne', '+49 30 1234', '12345', 'Acme Corp', 'btc'];
    const enricher = await enricherOf(scene);
    const found = await all(enricher.enrich([...texts, 12_345 as unknown as string]));
    expect(statusesOf(found)).toEqual({ invalid: 6 });
    for (const { error } of found) {
      expect(error?.code).toMatch(/^(not_recognised|open_)/);
      expect(error?.message).toMatch(/kind auto takes .*; name /);
    }
    expect(await enricher.lookup('1332')).toMatchObject({ status: 'invalid' });
    expect(meter.requests).toHaveLength(0);
    await enricher.lookup('0700.HK');
    expect(meter.requests).toHaveLength(1);
  });

  test('a text in place of rows is refused, and so are options that cannot be', async () => {
    const scene = await createScene(engine);
    const enricher = await enricherOf(scene);
    await expect(all(enricher.enrich('acme.com'))).rejects.toThrow(/a list of texts/);
    await expect(all(enricher.enrich(['a.com'], { lookAhead: 0 }))).rejects.toThrow(/lookAhead/);
    await expect(enricher.lookup('a.com', { kind: 'website' as 'domain' })).rejects.toThrow(/kind/);
    const misspelt = { sginal: AbortSignal.abort() } as object;
    await expect(enricher.lookup('a.com', misspelt)).rejects.toThrow(/sginal; did you mean signal/);
    await expect(all(enricher.enrich(['a.com'], misspelt))).rejects.toThrow(/did you mean signal/);
    const dispatcher = {} as NonNullable<EnricherOptions['dispatcher']>;
    await expect(createEnricher({ env: scene.env, dispatcher })).rejects.toThrow(/dispatcher/);
    await expect(createEnricher()).rejects.toThrow(
      /no service address was given: baseUrl.*no token was given/s,
    );
    await expect(createEnricher({ env: scene.env, rate: -1 })).rejects.toThrow(/rate in the options/);
    expect(scene.service.meter.requests).toHaveLength(0);
  });

  test('a cap holds for all lookups of a name, also of the program that goes on after a stop', async () => {
    const scene = await createScene(engine);
    const options = { maxRequests: 5, name: 'nightly' };
    const first = await enricherOf(scene, options);
    const found = await all(first.enrich(domains(12)));
    expect(scene.service.meter.billed).toBe(5);
    const deferred = found.filter(({ status }) => status === 'deferred');
    expect(deferred).toHaveLength(7);
    for (const { error } of deferred)
      expect(error?.message).toMatch(/^not looked up: maxRequests 5 is reached/);
    await first.close();
    const second = await enricherOf(scene, options);
    expect(await second.lookup('another.com')).toMatchObject({ status: 'deferred' });
    expect(await second.lookup(domainAt(0))).toMatchObject({ source: 'stored' });
    const other = await enricherOf(scene, { maxRequests: 5 });
    await other.lookup('another.com');
    expect(scene.service.meter.billed).toBe(6);
  });

  test.each(['a signal ends a stream', 'leaving the loop ends it'])(
    '%s at once; what was in flight is kept, and nothing else is sent',
    async (how) => {
      const scene = await createScene(engine, { latencyMs: 50 });
      const { meter } = scene.service;
      const enricher = await enricherOf(scene, { concurrency: 4 });
      const stop = new AbortController();
      const taking = (async () => {
        const rows = enricher.enrich(domains(500), { signal: stop.signal, lookAhead: 200 });
        const found: Enriched[] = [];
        for await (const row of rows) {
          if (found.push(row) < 10) continue;
          if (how.startsWith('leaving')) break;
          stop.abort(new Error('enough'));
        }
      })();
      if (how.startsWith('leaving')) await taking;
      else await expect(taking).rejects.toThrow('enough');
      const sent = meter.requests.length;
      // It would be the last of all: requests go out in order.
      expect(await enricher.lookup('after.com')).toMatchObject({ identifier: 'after.com', source: 'api' });
      await expect(enricher.lookup('b.com', { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
      await enricher.close();
      // Those that had their permit when it ended.
      expect(meter.requests.length - sent).toBeLessThanOrEqual(9);
      const second = await enricherOf(scene);
      await all(second.enrich(domains(60)));
      expect(meter.mostBilledOnce()).toBe(1);
    },
  );

  test('what failed and was paid for is not asked again', async () => {
    const scene = await createScene(engine);
    const enricher = await enricherOf(scene);
    await enricher.lookup('good.com');
    scene.service.options.alwaysStatus = 410;
    const first = await enricher.lookup('gone.com');
    expect(first).toMatchObject({ status: 'failed', brand: null });
    expect(await enricher.lookup('gone.com')).toMatchObject({ status: 'failed', error: first.error });
    expect(scene.service.meter.billed).toBe(2);
  });

  test('a refused token is an error, and costs one request', async () => {
    const scene = await createScene(engine);
    const enricher = await enricherOf(scene, { token: 'revoked-token-of-long-ago' });
    const lookups = await Promise.allSettled(domains(50).map((domain) => enricher.lookup(domain)));
    const reason = { name: 'AuthenticationError', code: 'credentials-refused', exitCode: 4 };
    for (const each of lookups) expect(each).toMatchObject({ reason });
    await expect(all(enricher.enrich(domains(5)))).rejects.toThrow(/refused the credentials/);
    expect(scene.service.meter.requests).toHaveLength(1);
  });

  test('the signal of the enricher closes it: calls reject with its reason, and nothing more is sent', async () => {
    const scene = await createScene(engine, { latencyMs: 200 });
    const program = new AbortController();
    const enricher = await enricherOf(scene, { signal: program.signal, concurrency: 2 });
    const rows = all(enricher.enrich(domains(100)));
    await scene.service.until(({ inFlight }) => inFlight === 2);
    const { length } = scene.service.meter.requests;
    program.abort(new Error('the server shuts down'));
    await expect(rows).rejects.toThrow('the server shuts down');
    await expect(enricher.lookup('acme.com')).rejects.toThrow('the server shuts down');
    await enricher.close();
    const { signal } = program;
    await expect(createEnricher({ env: scene.env, signal })).rejects.toThrow('the server shuts down');
    expect(scene.service.meter.requests).toHaveLength(length);
  });

  test('the signal of the enricher ends its opening and the reading of a file with its reason', async () => {
    const scene = await createScene(engine);
    const path = await scene.write('list.csv', domainList(20));
    const reason = new Error('the server shuts down');
    const early = new AbortController();
    const opening = createEnricher({ env: scene.env, signal: early.signal });
    early.abort(reason);
    await expect(opening).rejects.toBe(reason);
    const late = new AbortController();
    const enricher = await enricherOf(scene, { signal: late.signal });
    const calls = [enricher.runFile(path), enricher.plan(path)];
    late.abort(reason);
    for (const ended of await Promise.allSettled(calls))
      expect(ended).toEqual({ status: 'rejected', reason });
    expect(scene.service.meter.requests).toHaveLength(0);
  });

  test('a dispatcher of the program sends the requests of lookups and files, once each', async () => {
    const scene = await createScene(engine);
    await scene.write('list.csv', domainList(20));
    const agent = new Agent();
    onTestFinished(() => agent.close());
    const sent: object[] = [];
    const dispatcher: EnricherOptions['dispatcher'] = {
      dispatch(options, handler) {
        sent.push(options);
        return agent.dispatch(options as never, handler as never);
      },
    };
    const enricher = await enricherOf(scene, { dispatcher });
    expect(await enricher.lookup(domainAt(0))).toMatchObject({ status: 'matched', billed: 1 });
    const { rows } = await enricher.runFile(scene.path('list.csv'));
    expect(rows.matched + rows.not_found).toBe(20);
    expect(sent).toHaveLength(20);
    expect(scene.service.meter.requests).toHaveLength(20);
    expect(scene.service.meter.mostBilledOnce()).toBe(1);
  });

  test('a request whose dispatcher throws counts as billed, and fails after two tries', async () => {
    const scene = await createScene(engine);
    const dispatch = () => {
      throw new Error('the proxy is out of order');
    };
    const enricher = await enricherOf(scene, { dispatcher: { dispatch }, maxRequests: 10 });
    const { status, billed, error } = await enricher.lookup('acme.com');
    expect({ status, billed, code: error?.code }).toEqual({ status: 'failed', billed: 2, code: 'answer' });
    expect((await enricher.account()).used).toBe(2);
  });

  test('an address at which nothing listens is an error', async () => {
    const scene = await createScene(engine);
    const enricher = await enricherOf(scene, { baseUrl: 'http://127.0.0.1:9' });
    const error = { name: 'RunError', code: 'service-unreachable' };
    await expect(enricher.lookup('acme.com')).rejects.toMatchObject(error);
  });

  test('a file is enriched as on the command line, with progress, and stops at a signal', async () => {
    const scene = await createScene(engine, { latencyMs: 200 });
    await scene.write('list.csv', domainList(60));
    const lines: string[] = [];
    const note = (_facts: object, message: string) => void lines.push(JSON.stringify([_facts, message]));
    const log = { debug: note, info: note, warn: note, error: note };
    const enricher = await enricherOf(scene, { log, concurrency: 4 });
    await enricher.lookup(domainAt(0));
    const phases = new Set<string>();
    const output = scene.path('out.csv');
    const stop = new AbortController();
    const path = scene.path('list.csv');
    const stopped = await enricher.runFile(path, {
      output,
      signal: stop.signal,
      onProgress({ phase, answered }) {
        phases.add(phase);
        if (answered > 10) stop.abort();
      },
    });
    const partial = { exitCode: 130, isComplete: false, output: scene.path('out.partial.csv') };
    expect(stopped).toMatchObject(partial);
    scene.service.options.latencyMs = 0;
    // The types allow no other account for a file; who gives one all the same gets none.
    const other = { baseUrl: 'http://127.0.0.1:9', token: 'of-another-user' };
    const whole = await enricher.runFile(path, { output, column: 'website:domain', ...other });
    expect(whole).toMatchObject({ exitCode: 0, isComplete: true, reason: null, output });
    expect([...phases]).toEqual(expect.arrayContaining(['reading', 'asking']));
    expect(await readRows(output)).toHaveLength(60);
    expectPaidOnce(scene.service.meter, 60);
    expect(lines.join('\n')).toContain('identifiers come from column');
    expect(lines.join('\n')).not.toContain(scene.token);
    await expect(enricher.runFile('-')).rejects.toThrow(/name a file/);
    const error = { code: 'input-missing' };
    await expect(enricher.runFile(scene.path('none.csv'))).rejects.toMatchObject(error);
  });

  test('of 200 wrong rows 50 are bought and the rest is deferred, until `minMatch` is 0', async () => {
    const scene = await createScene(engine);
    const { meter } = scene.service;
    const wrong = unknown(200);
    const enricher = await enricherOf(scene);
    // The second time the first 50 are stored: nothing is sent.
    for (let time = 0; time < 2; time += 1) {
      const found = await all(enricher.enrich(['localhost', ...wrong, 'x@gmail.com']));
      expect(statusesOf(found)).toEqual({ not_found: 50, deferred: 150, skipped: 1, invalid: 1 });
      expect(found.filter(({ stopped }) => stopped === 'min-match')).toHaveLength(150);
      expect(found[100]).toMatchObject({ input: wrong[99], status: 'deferred', stopped: 'min-match' });
      expect(found[100]).toMatchObject({ stopped: 'min-match', error: { code: 'min-match' } });
      expect(found[100]?.error?.message).toMatch(
        /^not looked up: only 0 of the first 50 answers match; .*minMatch to 0/,
      );
      expect(meter.requests).toHaveLength(50);
    }
    const lifted = await all((await enricherOf(scene, { minMatch: 0 })).enrich(wrong));
    expect([statusesOf(lifted), meter.billed]).toEqual([{ not_found: 200 }, 200]);
    expect(meter.mostBilledOnce()).toBe(1);
  });

  test('closing ends what waits, keeps what is in flight, and is the end', async () => {
    const scene = await createScene(engine, { latencyMs: 200 });
    const { service } = scene;
    const enricher = await enricherOf(scene, { concurrency: 2 });
    await enricher.lookup('first.com');
    const lookups = domains(10).map((domain) => enricher.lookup(domain));
    const ended = Promise.allSettled(lookups);
    await service.until(({ inFlight }) => inFlight === 2);
    await Promise.all([enricher.close(), enricher.close()]);
    for (const each of await ended) {
      expect(each).toMatchObject({ reason: { name: 'InterruptedError', code: 'interrupted' } });
    }
    expect(service.meter.billed).toBe(3);
    await expect(enricher.lookup('x.com')).rejects.toThrow(/closed/);
    await expect(all(enricher.enrich(['x.com']))).rejects.toThrow(/closed/);
    await expect(enricher.runFile('x.csv')).rejects.toThrow(/closed/);
    const second = await enricherOf(scene);
    await all(second.enrich(domains(10)));
    expect(service.meter.billed).toBe(11);
    const { runs } = await statusOf(scene);
    expect(runs.slice(0, 2).map(({ status }) => status)).toEqual(['running', 'stopped']);
  });

  test('that waits at the limit goes on when it is raised; when it asks for nothing more its run ends, and another begins with the next lookup', {
    tags: ['long'],
    timeout: 240_000,
  }, async () => {
    const scene = await createScene(engine, { quota: 5 });
    const { meter, options } = scene.service;
    const enricher = await enricherOf(scene, { onLimit: 'wait' });
    const enriching = all(enricher.enrich(domains(8)));
    await scene.service.until(({ billed }) => billed === 5);
    options.quota = 100;
    expect(Object.keys(statusesOf(await enriching))).not.toContain('deferred');
    expect(meter.billed).toBe(8);
    const newest = async () => (await statusOf(scene)).runs[0];
    const first = await newest();
    await expect
      .poll(newest, { timeout: 60_000, interval: 2_000 })
      .toEqual(expect.objectContaining({ id: first?.id, status: 'finished' }));
    await enricher.lookup('late.com');
    expect(await newest()).toMatchObject({
      id: expect.not.stringContaining(first?.id ?? ''),
      status: 'running',
    });
    expect(meter.billed).toBe(9);
  });
});
