/** A whole run on a real engine, the local service in this process: waves, repeats and stops. */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/brand-api/client.js';
import { systemClock } from '../../src/core/clock.js';
import type { Identifier } from '../../src/core/identifier.js';
import { silentLog } from '../../src/core/log.js';
import type { RunSettings } from '../../src/engine/stores/run-store.js';
import { type EnrichResult, enrichFile } from '../../src/run/enrich-file.js';
import type { EnrichRequest, EnrichRuntime } from '../../src/run/enrich-request.js';
import type { SpendingQuestion } from '../../src/run/lookups/spending.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { settingsWith } from '../support/default-settings.js';
import { hasRedisServer } from '../support/redis-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { keyOf, SERVICE, usePlaces, type Workplace } from '../worker/workplace.js';

describe.skipIf(!hasRedisServer())('a run (needs redis-server)', () => {
  const openPlace = usePlaces('enrich');
  let place: Workplace;
  let folder: string;
  beforeEach(async () => {
    place = await openPlace();
    folder = await temporaryFolder();
  });

  interface RunOptions {
    readonly input: string;
    readonly columns?: readonly string[];
    readonly client?: Client;
    readonly settings?: Partial<RunSettings>;
    readonly asked?: Partial<EnrichRequest['settings']>;
    readonly runtime?: Partial<EnrichRuntime>;
  }

  function requestOf(options: RunOptions): EnrichRequest {
    const columns = options.columns ?? ['website'];
    return {
      input: join(folder, 'list.csv'),
      stdin: null,
      stdout: null,
      settings: settingsWith({
        columns: columns.map((name) => ({ name, kind: 'domain' })),
        waterfall: columns.length > 1,
        fields: ['name'],
        sort: 'none',
        overagePrice: '0.1',
        ...options.asked,
      }),
      runSettings: runSettings({ service: SERVICE, ...options.settings }),
      pace: { rate: null, burst: 1 },
      reader: 'terminal',
      stateFolder: join(folder, 'state'),
    };
  }

  async function run(options: RunOptions): Promise<EnrichResult> {
    await writeFile(join(folder, 'list.csv'), options.input);
    const client = options.client ?? place.client();
    return enrichFile(requestOf(options), {
      engine: place.engine,
      queueName: place.queue.name,
      worker: {
        type: 'own',
        open: (listener) => place.openWorker({ client, spoolFolder: join(folder, 'spool'), listener }),
      },
      clock: systemClock,
      log: silentLog(),
      stop: new AbortController().signal,
      emit: () => undefined,
      graceMs: () => 2_000,
      confirm: async () => true,
      ...options.runtime,
    });
  }

  /** The client of the place, with something to do before and after each lookup. */
  function clientThat(before: (identifier: Identifier) => Promise<void>, after = () => undefined as unknown) {
    const client = place.client();
    const lookup: Client['lookup'] = async (identifier, options) => {
      await before(identifier);
      const answer = await client.lookup(identifier, options);
      after();
      return answer;
    };
    return { lookup };
  }

  const lines = async (name = 'list.enriched.csv') =>
    (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n');
  const billed = () => [...place.billed.values()].reduce((sum, count) => sum + count, 0);

  const LIST = 'website\nb1.com\nnobody.com\nhttps://B1.com/\nb2.com\n';
  const WATERFALL = 'website,other\nb1.com,b2.com\nnobody.com,b3.com\nnone.com,nothing.com\n';
  const WAVES = { input: WATERFALL, columns: ['website', 'other'] };

  it('buys nothing when an output cannot be written, or would overwrite the input', async () => {
    const writingTo = (output: string) => expect(run({ input: LIST, asked: { output } })).rejects;
    await writingTo(folder).toMatchObject({ code: 'output-unwritable' });
    await symlink('list.csv', join(folder, 'link.csv'));
    await writingTo(join(folder, 'link.csv')).toMatchObject({ code: 'usage-invalid' });
    expect(billed()).toBe(0);
    expect(await lines('list.csv')).toEqual(LIST.trimEnd().split('\n'));
  });

  const LONG = 'ä'.repeat(32_768);
  it.each([
    [`website,note\nb1.com,${LONG.slice(1)}\nb2.com,"${LONG}"\n`, '"note" in line 3 has 32,768'],
    [`note\n\nwebsite,${LONG}\nb1.com,x\nb2.com,x\n`, '"ääää.*" in line 3 has 32,768'],
    [`website,note\nb1.com,x\nb2.com,"${LONG.slice(1)}\n`, '"brand_raw" in line 3 has 32,775'],
    [`website\nb1.com\nb2.com,${LONG}\n`, '"brand_raw" in line 3 has 32,775'],
  ])('buys nothing when text does not fit into the workbook that is asked for: %#', async (input, where) => {
    await expect(run({ input, asked: { format: 'xlsx' } })).rejects.toMatchObject({
      code: 'usage-invalid',
      subject: expect.stringMatching(new RegExp(`list\\.enriched\\.xlsx \\(${where}\\)$`)),
    });
    expect(billed()).toBe(0);
    expect((await run({ input, asked: { format: 'csv' } })).end.type).toBe('finished');
  });

  it('has the path of its result on record, unless that moves with its inbox or is not a file', async () => {
    const input = 'website\nb1.com\n';
    const { run: own } = await run({ input });
    expect(own.settings.output).toBe(join(folder, 'list.enriched.csv'));
    const tick = await run({ input, runtime: { job: { id: 'r-2', job: 'tick', owner: 'schedule:q/n' } } });
    expect(tick.run.settings.output).toBe(join(folder, 'list.enriched.csv'));
    const dropped = await run({ input, runtime: { job: { id: 'r-3', job: 'j-1', owner: 'j-1' } } });
    expect(dropped.run.settings.output).toBeUndefined();
  });

  it('reports stored answers to outside viewers, and counts them once for the caller', async () => {
    await run({ input: 'website\nb1.com\nb2.com\n' });
    const seen: number[] = [];
    const { run: record } = await run({
      input: 'website\nb1.com\nb2.com\nb3.com\n',
      runtime: { emit: (event) => event.type === 'progress' && seen.push(event.answered) },
    });
    expect(record.tally).toMatchObject({ matched: 1, stored: 2 });
    expect(record.identifiers).toBe(3);
    expect(seen[0]).toBe(2);
  });

  it('with --waterfall looks up the next column after "not found"', async () => {
    const result = await run(WAVES);
    const asked = ['b1.com', 'b3.com', 'nobody.com', 'none.com', 'nothing.com'];
    expect([...place.billed.keys()].sort()).toEqual(asked.map((value) => `domain:${value}`));
    expect(result.written.counts).toMatchObject({ matched: 2, not_found: 1 });
    expect((await lines())[2]).toMatch(/^nobody\.com,b3\.com,matched,b3\.com,/);
  });

  it('uses the stored answers of every wave when repeated, and asks for a forgotten one alone', async () => {
    await run(WAVES);
    const first = await lines();
    const before = billed();
    const again = await run(WAVES);
    expect(await lines()).toEqual(first);
    expect([billed(), again.isComplete]).toEqual([before, true]);
    await place.engine.outcomes.forget(['b3.com', 'nothing.com'].map((value) => keyOf(`domain:${value}`)));
    await run(WAVES);
    expect((await lines()).map(withoutTime)).toEqual(first.map(withoutTime));
    expect(place.billed.get('domain:b3.com')).toBe(2);
    expect(place.billed.get('domain:nobody.com')).toBe(1);
  });

  it('is incomplete when stopped between two waves: rows whose next column was not asked for are deferred', async () => {
    const stop = new AbortController();
    const client = clientThat(
      async () => undefined,
      () => place.billed.size === 3 && stop.abort(new Error('stop')),
    );
    const result = await run({ ...WAVES, client, runtime: { stop: stop.signal } });
    expect(result).toMatchObject({ end: { type: 'stopped' }, isComplete: false });
    expect(result.written.counts).toMatchObject({ matched: 1, not_found: 0, deferred: 2 });
    expect(await readdir(folder)).toContain('list.enriched.partial.csv');

    const again = await run(WAVES);
    expect(again.written.counts).toMatchObject({ matched: 2, not_found: 1, deferred: 0 });
    expect(new Set(place.billed.values())).toEqual(new Set([1]));
    expect(await readdir(folder)).not.toContain('list.enriched.partial.csv');
  });

  it('asks before it spends; after a no it has sent and written nothing, and is over', async () => {
    const asked: number[] = [];
    const confirm = async ({ requests }: SpendingQuestion) => asked.push(requests) < 0;
    const declined = run({ input: LIST, runtime: { confirm } });
    await expect(declined).rejects.toMatchObject({ code: 'declined', exitCode: 0 });
    expect(asked).toEqual([3]);
    expect(billed()).toBe(0);
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/enriched|errors/));
    const runs = await place.engine.runs.list(100);
    expect(runs.filter(({ status }) => status === 'running')).toEqual([]);
  });

  it.each([
    ['its input', 'list.csv', 'the input was moved or removed while it was processed: '],
    ['the folder of its output', 'out', 'an output cannot be written: '],
  ])('is over in the engine, with its reason, when %s is removed while it works', async (_, name, reason) => {
    await mkdir(join(folder, 'out'));
    const removing = clientThat(() => rm(join(folder, name), { recursive: true, force: true }));
    const output = join(folder, 'out', 'result.csv');
    await expect(run({ input: LIST, client: removing, asked: { output } })).rejects.toThrow(reason);
    const [failed] = await place.engine.runs.list(1);
    expect(failed?.stop).toEqual({ type: 'failed', reason: expect.stringContaining(reason) });
    expect(failed?.status).toBe('stopped');
  });

  const MANY = `website\n${Array.from({ length: 9 }, (_, at) => `b${at}.com\n`).join('')}`;

  it('a trial as long as the file is not a trial', async () => {
    const questions: SpendingQuestion[] = [];
    const confirm = async (question: SpendingQuestion) => questions.push(question) > 0;
    await run({ input: 'website\nc1.com\nc2.com\n', asked: { trial: 2 }, runtime: { confirm } });
    expect(questions.map(({ requests, trial }) => [requests, trial])).toEqual([[2, null]]);
  });

  const asks = async () => true;
  it.each([
    [true, null, 1],
    [true, 'own.example', 0],
    [false, 'own.example', 0],
    [false, null, null],
  ])('a person (%s) is asked again with a known quota (%s)', async (isInteractive, ownDomain, billedThen) => {
    const questions: { readonly quotaLeft: number | null; readonly billed: number }[] = [];
    const confirm = async ({ quotaLeft }: SpendingQuestion) => {
      questions.push({ quotaLeft, billed: billed() });
      return true;
    };
    await run({ input: MANY, settings: { ownDomain }, runtime: { confirm, ...(isInteractive && { asks }) } });
    // A look counts as one request until it is proven free.
    const counted = ownDomain === null ? billedThen : 1;
    expect(questions).toEqual([
      { quotaLeft: null, billed: 0 },
      ...(counted === null ? [] : [{ quotaLeft: 100_000 - counted, billed: billedThen }]),
    ]);
    expect([place.billed.size, billed()]).toEqual([9, 9]);
  });

  it('looks up the most valuable identifier to learn the quota', async () => {
    const order: string[] = [];
    const noting = clientThat(async ({ value }) => void order.push(value));
    const priority = { name: 'worth', direction: 'desc' } as const;
    const input = `website,worth\nb1.com,1\nb2.com,2\nb3.com,9\n`;
    await run({ input, client: noting, asked: { priority }, runtime: { asks } });
    expect([order[0], order.length]).toEqual(['b3.com', 3]);
  });
});

/** Lines differ by when answers were fetched. */
function withoutTime(line: string): string {
  return line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '');
}
