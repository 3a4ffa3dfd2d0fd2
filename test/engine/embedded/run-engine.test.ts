/**
 * The engine of a run over the socket of the folder's holder: it keeps the same contract as one of the run's own process, spends
 * nothing, and outlives its holder.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Engine, RunEngine } from '../../../src/engine/engine.js';
import { findHolder } from '../../../src/engine/find-holder.js';
import type { GuestRefusal } from '../../../src/engine/guests.js';
import { keepAsking } from '../../../src/engine/keep-asking.js';
import { openEngine } from '../../../src/engine/open-engine.js';
import { type OpenedRunEngine, openRunEngine } from '../../../src/engine/open-run-engine.js';
import type { StoreCall, StoreReply } from '../../../src/engine/store-calls.js';
import { FailFileError } from '../../../src/errors.js';
import { createReleasers } from '../../../src/lifecycle.js';
import { silentLog } from '../../../src/log.js';
import { describeRunEngine } from '../contract/run-engine-contract.js';
import { runSettings } from '../contract/run-settings.js';

const WANTED = { queueName: 'lookups-mine', service: 'https://service.example' };

async function newFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'guest-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function hold(folder: string, refusal: GuestRefusal | null): Promise<Engine> {
  const engine = await openEngine({
    engine: 'embedded',
    stateFolder: folder,
    log: silentLog(),
    command: 'up',
  });
  engine.guests?.open(() => refusal);
  return engine;
}

function visit(folder: string): Promise<OpenedRunEngine> {
  const stop = new AbortController().signal;
  return openRunEngine({ engine: 'embedded', stateFolder: folder, log: silentLog(), stop }, WANTED);
}

describeRunEngine('a guest of the embedded engine', async () => {
  const { folder, remove } = await newFolder();
  const home = await hold(folder, null);
  const { engine } = await visit(folder);
  return {
    home,
    engine,
    async close() {
      await home.close();
      await remove();
    },
  };
});

describe('a guest', () => {
  const releasers = createReleasers();
  let folder: string;
  let home: Engine;
  beforeAll(async () => {
    const made = await newFolder();
    folder = made.folder;
    releasers.push(made.remove);
    home = await hold(folder, null);
    releasers.push(() => home.close());
  });
  afterAll(() => releasers.releaseAll());

  test('is told who does its lookups', async () => {
    home.guests?.open(() => null);
    const opened = await visit(folder);
    expect(opened).toMatchObject({ type: 'guest', host: { pid: process.pid, command: 'up' } });
    expect(opened.engine).toMatchObject({ kind: 'embedded', address: folder });
  });

  test('is heard with its queue and its service', async () => {
    const heard: unknown[] = [];
    home.guests?.open((wanted) => {
      heard.push(wanted);
      return null;
    });
    await visit(folder);
    expect(heard).toEqual([WANTED]);
  });

  test.each([
    ['nobody', /no lookups for other runs.*brand-enrich up.*--state/],
    ['token', /another token or --account.*--state/],
    ['service', /another service.*--base-url.*--state/],
  ] as const)('that is refused (%s) learns by whom, why and what to do', async (refusal, words) => {
    home.guests?.open(() => refusal);
    await expect(visit(folder)).rejects.toMatchObject({
      code: 'engine-held',
      message: expect.stringMatching(words),
    });
    await expect(visit(folder)).rejects.toThrow(`process ${process.pid} (up)`);
  });

  test.each([
    ['ledger', 'exchange'],
    ['outcomes', 'claim'],
    ['outcomes', 'record'],
    ['runs', 'fail'],
    ['runs', 'halt'],
    ['runs', 'constructor'],
    ['guests', 'open'],
    ['line', 'close'],
    ['engine', 'close'],
  ])('cannot call %s.%s', async (store, method) => {
    const ask = await findHolder(folder);
    const call = { store, method, args: ['a', 'b'] } as unknown as StoreCall;
    await expect(ask?.(call)).rejects.toThrow('does not know this request');
  });

  test('does not revive a run that ended otherwise', async () => {
    await startRun(home, 'stopped');
    await home.runs.end('stopped', 'stopped', 'Ctrl-C');
    await home.runs.beat('stopped');
    expect(await home.runs.get('stopped')).toMatchObject({ status: 'stopped', reason: 'Ctrl-C' });
  });
});

test('where nobody holds the folder a run opens it itself, and serves nobody; the next holder takes up its guests', async () => {
  const releasers = createReleasers();
  const { folder, remove } = await newFolder();
  releasers.push(remove);
  onTestFinished(() => releasers.releaseAll());
  const opened = await visit(folder);
  if (opened.type !== 'own') throw new Error('it is a guest of nobody');
  const first = opened.engine;
  releasers.push(() => first.close());
  await expect(visit(folder)).rejects.toThrow('no lookups for other runs');
  first.guests?.open(() => null);
  const { engine } = await visit(folder);
  await startRun(engine, 'run');
  await engine.openLine('q').add([{ run: 'run', chunk: 0, identifiers: ['domain:a.example'], attempts: {} }]);
  await first.close();

  const beat = engine.runs.beat('run');
  const second = await hold(folder, null);
  releasers.push(() => second.close());
  expect(await beat).toMatchObject({ chunks: 0, isCancelled: false });
  expect(await second.runs.get('run')).toMatchObject({ status: 'running', reason: null });
  expect(await engine.openLine('q').listOf('run')).toEqual([0]);
  await second.close();

  const listing = engine.runs.list(1);
  const third = await hold(folder, 'nobody');
  releasers.push(() => third.close());
  await expect(listing).rejects.toMatchObject({ code: 'engine-held' });
  await expect(engine.runs.list(1)).rejects.toMatchObject({ code: 'engine-held' });
});

async function startRun(engine: RunEngine, id: string): Promise<void> {
  await engine.runs.start({ id, key: id, label: '', settings: runSettings() });
}

describe('asking a holder that is away', () => {
  const away = () => new FailFileError({ code: 'engine-unreachable', subject: 's', todo: 't' });
  const call: StoreCall = { store: 'runs', method: 'list', args: [] };
  const reply: StoreReply = { value: 1 };

  test('asks again, and first whether it is welcome', async () => {
    const said: string[] = [];
    const ask = keepAsking(
      async () => {
        said.push('ask');
        if (said.length === 1) throw away();
        return reply;
      },
      {
        assertWelcome: async () => {
          said.push('welcome?');
          if (said.length === 2) throw away();
        },
        log: silentLog(),
        stop: new AbortController().signal,
      },
    );
    expect(await ask(call)).toBe(reply);
    expect(said).toEqual(['ask', 'welcome?', 'welcome?', 'ask']);
    await ask(call);
    expect(said.slice(4)).toEqual(['ask']);
  });

  test.each([
    ['after a stop nothing is tried again', away(), true],
    ['what is no absence is not tried again', new Error('wrong'), false],
  ])('%s', async (_title, error, isStopped) => {
    const stopping = new AbortController();
    if (isStopped) stopping.abort();
    let asked = 0;
    const ask = keepAsking(
      async () => {
        asked += 1;
        throw error;
      },
      { assertWelcome: async () => undefined, log: silentLog(), stop: stopping.signal },
    );
    await expect(ask(call)).rejects.toBe(error);
    expect(asked).toBe(1);
  });

  test('a stop ends the waiting', async () => {
    const stopping = new AbortController();
    const ask = keepAsking(
      async () => {
        queueMicrotask(() => stopping.abort());
        throw away();
      },
      { assertWelcome: async () => undefined, log: silentLog(), stop: stopping.signal },
    );
    await expect(ask(call)).rejects.toMatchObject({ code: 'engine-unreachable' });
  });
});
