/** Every way in which the lookups of a run end, on a clock that the test turns. */
import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/core/errors.js';
import { silentLog } from '../../../src/core/log.js';
import type { NewOutcome } from '../../../src/core/outcome.js';
import type { ChunkData, ChunkQueue, Engine } from '../../../src/engine/engine.js';
import type { RunStop } from '../../../src/engine/stores/run-reasons.js';
import {
  type LookupFailure,
  NO_TALLY,
  type RunProgress,
  type RunRecord,
} from '../../../src/engine/stores/run-store.js';
import type { LedgerState } from '../../../src/ledger/ledger.js';
import type { EnrichRequest, EnrichRuntime } from '../../../src/run/enrich-request.js';
import { OutcomeCollector } from '../../../src/run/lookups/collect-outcomes.js';
import { ChunkDispatcher } from '../../../src/run/lookups/dispatch-chunks.js';
import { type SweepContext, sweep } from '../../../src/run/lookups/sweep.js';
import { createRenderer } from '../../../src/run/output/render.js';
import type { LookupsEnd } from '../../../src/run/run-end.js';
import type { Scan } from '../../../src/run/scan/scan.js';
import { untrustedReason } from '../../../src/worker/judge.js';
import type { LookupWorker } from '../../../src/worker/lookup-worker.js';
import { NO_PROGRESS, runSettings } from '../../engine/contract/run-settings.js';
import { createHandClock, type HandClock } from '../../model/hand-clock.js';
import { settingsWith } from '../../support/default-settings.js';
import { HALTS } from '../../support/halts.js';
import { ledgerState } from '../ledger-state.js';
import { planFor } from '../output/plans.js';
import { scanWanting } from '../spools.js';

const { limit: LIMIT, credentials: CREDENTIALS } = HALTS;

const REFUSED = { type: 'halted', halt: CREDENTIALS } as const;

/** Enough matches were found. */
const PASSED: SweepContext['check'] = {
  halt: async () => null,
  begin: () => undefined,
  room: () => Number.POSITIVE_INFINITY,
  handOut: () => undefined,
  onlyFirst: () => null,
};

/** Fake workers and stores under the test's control. */
type World = Awaited<ReturnType<typeof begin>>['world'];

/** What a test configures of its run. */
interface SweepOptions {
  readonly onLimit?: 'wait';
  readonly maxFailures?: number;
  readonly isWorkerShared?: boolean;
  /** A worker of this process looks at the account through the own brand, if it is permitted. */
  readonly looks?: 'permitted' | 'refused';
}

async function begin(options: SweepOptions = {}) {
  const clock = createHandClock();
  const stopping = new AbortController();
  const world = {
    clock,
    stopping,
    /** What happens to queued chunks: answered at once, lost, or left in the queue. */
    workers: 'answer' as 'answer' | 'lose' | 'sleep',
    /** What the next check of the run returns beside its chunks. */
    shown: {} as Partial<RunProgress>,
    /** Those of the texts that the workers have no answer to. */
    unanswered: new Set<string>(),
    asked: [] as string[],
    /** What the run recorded as not found. */
    recorded: [] as NewOutcome[],
    /** The results of lookups without an answer. */
    failure: null as Omit<LookupFailure, 'key'> | null,
    ledger: {} as Partial<LedgerState>,
    queued: new Map<number, ChunkData>(),
    /** Chunks that a worker is processing: they cannot be withdrawn. */
    held: new Set<number>(),
    seen: [] as (string | RunStop)[],
    /** A worker answers the rest of a chunk. */
    finish(chunk: number): void {
      for (const text of world.queued.get(chunk)?.identifiers ?? []) answered.add(text);
      world.queued.delete(chunk);
      world.held.delete(chunk);
      finished.add(chunk);
    },
  };
  const answered = new Set<string>();
  const finished = new Set<number>();
  const scan = await scanWanting(3);
  const queue = {
    async add(chunks: readonly ChunkData[]) {
      for (const data of chunks) {
        const { chunk, identifiers: texts } = data;
        world.seen.push(`chunk ${chunk}`);
        world.asked.push(...texts);
        if (world.workers === 'answer') {
          for (const text of texts) if (!world.unanswered.has(text)) answered.add(text);
          finished.add(chunk);
        }
        if (world.workers === 'sleep') world.queued.set(chunk, data);
      }
    },
    chunksOf: async () => [...world.queued.keys()],
    idleChunks: async () => [...world.queued.values()].filter(({ chunk }) => !world.held.has(chunk)),
    async setAside({ chunk }: { chunk: number }) {
      const data = world.queued.get(chunk) ?? null;
      return !world.held.has(chunk) && world.queued.delete(chunk) ? data : null;
    },
    async withdraw({ chunk }: { chunk: number }) {
      return !world.held.has(chunk) && world.queued.delete(chunk);
    },
  } as unknown as ChunkQueue;
  const engine = {
    runs: {
      heartbeat: async (): Promise<RunProgress> => ({
        ...NO_PROGRESS,
        chunks: finished.size,
        ...world.shown,
      }),
      get: async () => ({ paused: world.shown.isPausedAlone ? { by: 'ada', at: 0 } : null }),
      finishChunk: async (_run: string, chunk: number) => void finished.add(chunk),
      async clearHalt() {
        world.seen.push('halt cleared');
        world.shown = {};
      },
      end: async (_run: string, stop: RunStop | null) => void world.seen.push(stop ?? 'completed'),
      failures: async (_run: string, keys: readonly string[]) =>
        keys.map((key) => world.failure && { key, ...world.failure }),
    },
    outcomes: {
      read: async (keys: readonly string[]) =>
        keys.map((key) =>
          answered.has(key.replace('service:', ''))
            ? { status: 'not_found', packed: null, fetchedAt: 0, freshUntil: null }
            : null,
        ),
      async record(outcomes: readonly NewOutcome[]) {
        world.recorded.push(...outcomes);
        return 7;
      },
    },
    ledger: { show: async () => ledgerState(world.ledger) },
  } as unknown as Engine;
  const { isWorkerShared = false, looks, onLimit = 'stop' } = options;
  const settings = runSettings({ timeoutMs: 5_000, ownDomain: looks ? 'own.example' : null });
  const seenByWorker: string[] = [];
  const stop = stopping.signal;
  const context: SweepContext = {
    request: { settings: settingsWith({ onLimit }) } as EnrichRequest,
    runtime: {
      engine,
      stop,
      clock,
      worker: isWorkerShared ? { type: 'shared' } : null,
      graceMs: () => 5_000,
    } as Partial<EnrichRuntime> as EnrichRuntime,
    run: { id: 'run', settings } as Partial<RunRecord> as RunRecord,
    worker: looks ? workerIn(seenByWorker, looks === 'permitted') : null,
    trial: null,
    collector: new OutcomeCollector({
      engine,
      scan,
      renderer: createRenderer(planFor({ fields: ['name'] })),
      keyOf: (text) => `service:${text}`,
      freshness: { asOf: 0, maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: 0 },
      emit: () => undefined,
    }),
    scan: scan as Partial<Scan> as Scan,
    check: PASSED,
    dispatcher: new ChunkDispatcher({
      engine,
      queue,
      runId: 'run',
      stop,
      maxFailures: options.maxFailures ?? null,
      endsWhenPaused: false,
      clock,
      log: silentLog(),
      onProgress: () => undefined,
      onSilence: () => world.seen.push('silence'),
    }),
    onParked: (halt) => world.seen.push(halt ? 'parked' : 'goes on'),
  };
  return { world, context, answers: scan.answers, seenByWorker };
}

/** A second after its start, with the chunks in the queue and `world` changed like this. */
async function beginAsleep(options: SweepOptions = {}, changes: Partial<World> = {}) {
  const begun = await begin(options);
  const { world } = begun;
  Object.assign(world, { workers: 'sleep', ...changes });
  const ending = sweep(begun.context);
  await world.clock.advance(1_000);
  const endsWithin = (ms: number) => endWithin(world.clock, ending, ms);
  return { ...begun, endsWithin };
}

/** The part of a worker of this process that a run uses. */
function workerIn(seen: string[], isPermitted: boolean): LookupWorker {
  return {
    readUsage: async () => {
      seen.push('free look');
      return isPermitted ? ({} as Awaited<ReturnType<LookupWorker['readUsage']>>) : null;
    },
    resumeRun: () => seen.push('resumed'),
    stop: async () => void seen.push('worker stopped'),
  } as Partial<LookupWorker> as LookupWorker;
}

/** Returns how it ends within `ms`, or null. */
async function endWithin(clock: HandClock, ending: Promise<LookupsEnd>, ms: number) {
  let end: LookupsEnd | null = null;
  void ending.then((value) => {
    end = value;
  });
  await clock.advance(ms);
  return end as LookupsEnd | null;
}

it.each([
  ['was lost twice', { reason: { code: 'lost' }, isDeferred: true }, 'doubtful'],
  ['was refused by something unknown', { reason: null, isDeferred: false }, 'useless'],
] as const)('all identifiers asked for: %s: the run has failed', async (_what, failure, why) => {
  const { world, context } = await begin();
  world.workers = 'lose';
  const refusal = untrustedReason({
    meaning: { type: 'failed', reason: 'x', status: 404 },
    cost: 'billed',
  } as never);
  world.failure = { ...failure, reason: failure.reason ?? refusal, billed: true };
  const end = await endWithin(world.clock, sweep(context), 62_000);
  expect(end).toMatchObject({ type: 'halted', halt: { why } });
});

describe('a "not found" that its worker could not trust', () => {
  const reason = { code: 'unproven', text: 'the service answered 404', saysNotFound: true } as const;
  async function end(unanswered: readonly string[], some: Partial<SweepContext> = {}, shown = {}) {
    const { world, context, answers } = await begin();
    for (const text of unanswered) world.unanswered.add(text);
    world.failure = { reason, billed: true };
    world.shown = shown;
    const ended = await endWithin(world.clock, sweep({ ...context, ...some }), 2_000);
    const statuses = [0, 1, 2].map((index) => answers.status(index));
    return { ended, statuses, asked: world.asked, recorded: world.recorded };
  }
  const ALL = ['domain:b0.com', 'domain:b1.com', 'domain:b2.com'];
  const RECORDED = { status: 'not_found', packed: null, billed: true, freshMs: null };

  it('is recorded once the run has an answer of the service', async () => {
    const { ended, statuses, recorded } = await end(ALL.slice(1));
    expect([ended, statuses]).toEqual([{ type: 'finished' }, ALL.map(() => 'not_found')]);
    expect(recorded).toEqual(ALL.slice(1).map((text) => ({ ...RECORDED, key: `service:${text}` })));
  });

  it('has failed, and halts the run, without such an answer', async () => {
    const { ended, statuses, recorded } = await end(ALL);
    expect(ended).toMatchObject({ type: 'halted', halt: { why: 'useless', useless: { how: 'unproven' } } });
    expect([statuses, recorded]).toEqual([ALL.map(() => 'failed'), []]);
  });

  it('of a trial is not asked again, and judged by the answers of the rest', async () => {
    const trial = { indexes: [1], continues: async () => true };
    const { ended, statuses, asked, recorded } = await end(ALL.slice(1, 2), { trial });
    expect([ended, statuses]).toEqual([{ type: 'finished' }, ALL.map(() => 'not_found')]);
    expect(asked).toEqual(['domain:b1.com', 'domain:b0.com', 'domain:b2.com']);
    expect(recorded).toHaveLength(1);
  });

  it('is recorded by a run that is stopped, too', async () => {
    const { ended, statuses, recorded } = await end(ALL.slice(2), {}, { halt: CREDENTIALS });
    expect([ended, statuses]).toEqual([REFUSED, ALL.map(() => 'not_found')]);
    expect(recorded).toHaveLength(1);
  });
});

describe('a trial', () => {
  const trying = async (continues: () => Promise<boolean>) => {
    const { world, context, answers } = await begin();
    const asked: number[] = [];
    const trial = {
      indexes: [1],
      continues: () => {
        asked.push(answers.answered);
        return continues();
      },
    };
    const end = await endWithin(world.clock, sweep({ ...context, trial }), 2_000);
    return { end, asked, answers, world };
  };

  it('is looked up alone, and the rest if it continues', async () => {
    const { end, asked, answers, world } = await trying(async () => true);
    expect([end, asked]).toEqual([{ type: 'finished' }, [1]]);
    expect([0, 1, 2].map((index) => answers.status(index))).toEqual(Array(3).fill('not_found'));
    expect(world.seen).toEqual(['chunk 0', 'chunk 1']);
  });

  it('is all that is looked up if it does not', async () => {
    const { end, answers, world } = await trying(async () => false);
    expect(end).toEqual({ type: 'declined' });
    expect([0, 1, 2].map((index) => answers.status(index))).toEqual([null, 'not_found', null]);
    expect(world.seen).toEqual(['chunk 0', { type: 'declined' }]);
  });

  it('may be interrupted at its question, which is no error', async () => {
    const interrupted = new InterruptedError({ code: 'interrupted', subject: 'x', todo: 'y' });
    const { end, world } = await trying(() => Promise.reject(interrupted));
    expect([end, world.seen]).toEqual([{ type: 'stopped' }, ['chunk 0', { type: 'stopped' }]]);
  });
});

const THREE_FAILED = { ...NO_TALLY, failed: 3 };
const PAUSED = { isPaused: true, isPausedAlone: true };
const FULL = { ledger: { quota: 100, sent: 100 } };

describe('a run is stopped by', () => {
  it.each<[string, Partial<RunProgress>, SweepOptions, LookupsEnd]>([
    ['a person who cancels it', { isCancelled: true }, {}, { type: 'cancelled' }],
    ['too many failures', { tally: THREE_FAILED }, { maxFailures: 2 }, { type: 'too_many_failures' }],
    ['credentials', { halt: CREDENTIALS }, {}, REFUSED],
    ['credentials, with --on-limit wait too', { halt: CREDENTIALS }, { onLimit: 'wait' }, REFUSED],
    ['the limit', { halt: LIMIT }, {}, { type: 'halted', halt: LIMIT }],
  ])('%s: it ends in the store, and its chunks leave the queue', async (_what, shown, some, end) => {
    const { world, endsWithin } = await beginAsleep(some);
    world.shown = shown;
    expect(await endsWithin(1_000)).toEqual(end);
    expect(world.seen).toEqual(['chunk 0', end]);
    expect(world.queued.size).toBe(0);
  });

  it('nothing while failures stay within the allowed number', async () => {
    const { world, context } = await begin({ maxFailures: 3 });
    world.shown = { tally: THREE_FAILED };
    expect(await endWithin(world.clock, sweep(context), 1_000)).toEqual({ type: 'finished' });
  });

  it('a signal, which is seen at once and stops its own worker', async () => {
    const { world, endsWithin, seenByWorker } = await beginAsleep({ looks: 'permitted' });
    world.stopping.abort();
    expect(await endsWithin(20)).toEqual({ type: 'stopped' });
    expect(seenByWorker).toEqual(['worker stopped']);
  });

  it('nothing before chunks in progress are finished, for as long as requests in flight may take', async () => {
    const { world, endsWithin } = await beginAsleep({ isWorkerShared: true }, { held: new Set([0]) });
    world.stopping.abort();
    expect(await endsWithin(4_900)).toBeNull();
    expect(await endsWithin(500)).toEqual({ type: 'stopped' });
  });
});

describe('a limit', () => {
  it('is probed once more if that is free, and the run continues if there is room', async () => {
    const { world, endsWithin, seenByWorker } = await beginAsleep({ looks: 'permitted' });
    world.ledger = { quota: 200, sent: 100 };
    world.shown = { halt: LIMIT };
    world.workers = 'answer';
    // Workers elsewhere still remember the halt.
    expect(await endsWithin(9_000)).toBeNull();
    expect(seenByWorker).toEqual(['free look']);
    expect(await endsWithin(3_000)).toEqual({ type: 'finished' });
    expect(seenByWorker).toEqual(['free look', 'resumed']);
    expect(world.seen).toEqual(['chunk 0', 'halt cleared', 'chunk 1']);
  });

  it('is believed the second time', async () => {
    const room = { ledger: { quota: 200, sent: 100 } };
    const { world, endsWithin, seenByWorker } = await beginAsleep({ looks: 'permitted' }, room);
    world.shown = { halt: LIMIT };
    await world.clock.advance(11_000);
    world.shown = { halt: LIMIT };
    expect(await endsWithin(2_000)).toEqual({ type: 'halted', halt: LIMIT });
    expect(seenByWorker.filter((each) => each === 'free look')).toHaveLength(1);
  });

  it('is waited out with --on-limit wait, a minute at a time if a probe costs a request', async () => {
    const { world, endsWithin } = await beginAsleep({ onLimit: 'wait' });
    world.shown = { halt: LIMIT };
    expect(await endsWithin(59_000)).toBeNull();
    expect(world.seen).toEqual(['chunk 0', 'parked']);
    world.workers = 'answer';
    expect(await endsWithin(3_000)).toEqual({ type: 'finished' });
    expect(world.seen).toEqual(['chunk 0', 'parked', 'halt cleared', 'goes on', 'chunk 1']);
  });

  it.each([
    ['finds room, every 30 s', 'permitted', 95_000, ['free look', 'free look', 'free look'], 300, 30_000],
    ['is refused for a minute', 'refused', 58_000, ['free look'], 100, 6_000],
  ] as const)('is waited out until a free look %s', async (_what, looks, ms, seen, quota, restMs) => {
    const { world, endsWithin, seenByWorker } = await beginAsleep({ onLimit: 'wait', looks }, FULL);
    world.shown = { halt: LIMIT };
    expect(await endsWithin(ms)).toBeNull();
    expect(seenByWorker).toEqual(seen);
    world.ledger = { quota, sent: 100 };
    world.workers = 'answer';
    expect(await endsWithin(restMs)).toEqual({ type: 'finished' });
    expect(seenByWorker).toEqual([...seen, 'free look', 'resumed']);
  });

  it.each([
    ['a minute', {}],
    ['free requests', { looks: 'permitted' }],
  ] as const)('that is waited out with %s ends when the run is cancelled', async (_, some) => {
    const { world, endsWithin } = await beginAsleep({ onLimit: 'wait', ...some }, FULL);
    world.shown = { halt: LIMIT };
    await world.clock.advance(10_000);
    world.shown = { halt: LIMIT, isCancelled: true };
    expect(await endsWithin(2_000)).toEqual({ type: 'cancelled' });
  });

  it('that is waited out while the run is paused: nothing is sent before it is resumed', async () => {
    const options = { onLimit: 'wait', looks: 'permitted' } as const;
    const { world, endsWithin, seenByWorker } = await beginAsleep(options, FULL);
    world.shown = { halt: LIMIT };
    await world.clock.advance(10_000);
    world.shown = { halt: LIMIT, ...PAUSED };
    world.ledger = { quota: 300, sent: 100 };
    expect(await endsWithin(120_000)).toBeNull();
    expect([world.seen, seenByWorker]).toEqual([['chunk 0', 'parked'], []]);
    world.workers = 'answer';
    world.shown = { halt: LIMIT };
    expect(await endsWithin(31_000)).toEqual({ type: 'finished' });
    expect(seenByWorker).toEqual(['free look', 'resumed']);
  });

  it('that is waited out ends with a signal', async () => {
    const { world, endsWithin } = await beginAsleep({ onLimit: 'wait' });
    world.shown = { halt: LIMIT };
    await world.clock.advance(10_000);
    world.stopping.abort();
    expect(await endsWithin(0)).toEqual({ type: 'stopped' });
  });
});

describe('silence of the workers', () => {
  it('is reported once, after 15 s, and ends nothing while the chunks are in the queue', async () => {
    const { world, endsWithin } = await beginAsleep();
    expect(await endsWithin(13_000)).toBeNull();
    expect(world.seen).toEqual(['chunk 0']);
    expect(await endsWithin(300_000)).toBeNull();
    expect(world.seen).toEqual(['chunk 0', 'silence']);
  });

  it('is expected while the account is paused', async () => {
    const { world, endsWithin } = await beginAsleep({}, { shown: { isPaused: true } });
    expect(await endsWithin(300_000)).toBeNull();
    expect(world.seen).toEqual(['chunk 0']);
  });

  it('does not count while the run is paused alone: its chunks leave the queue until it is resumed', async () => {
    const { world, endsWithin } = await beginAsleep({}, { held: new Set([0]), shown: PAUSED });
    expect(await endsWithin(300_000)).toBeNull();
    expect([...world.queued.keys()]).toEqual([0]);
    world.held.clear();
    await world.clock.advance(2_000);
    expect([...world.queued.keys()]).toEqual([]);
    expect(world.seen).toEqual(['chunk 0']);
    world.workers = 'answer';
    world.shown = {};
    expect(await endsWithin(1_000)).toEqual({ type: 'finished' });
    expect(world.seen).toEqual(['chunk 0', 'chunk 0']);
  });

  it('is paused and resumed while a worker keeps its chunk: nobody else is given those identifiers', async () => {
    const { world, endsWithin } = await beginAsleep({}, { held: new Set([0]) });
    for (let time = 0; time < 5; time += 1) {
      world.shown = PAUSED;
      await world.clock.advance(400);
      world.shown = {};
      await world.clock.advance(400);
    }
    expect(await endsWithin(30_000)).toBeNull();
    expect(world.seen).toEqual(['chunk 0', 'silence']);
    world.finish(0);
    expect(await endsWithin(1_000)).toEqual({ type: 'finished' });
    expect(world.seen).toEqual(['chunk 0', 'silence']);
  });

  it('is resumed with what is left of its chunks, and paused again', async () => {
    const { world, endsWithin } = await beginAsleep();
    const left = { run: 'run', chunk: 0, identifiers: ['domain:b2.com'], attempts: { 'domain:b2.com': 2 } };
    world.queued.set(0, left);
    for (let time = 0; time < 2; time += 1) {
      world.shown = PAUSED;
      await world.clock.advance(2_000);
      expect(world.queued.size).toBe(0);
      world.shown = {};
      await world.clock.advance(400);
      expect(world.queued.get(0)).toEqual(left);
    }
    world.finish(0);
    await world.clock.advance(1_000);
    // The answers of the others were never given: they are looked for once more.
    expect(world.seen).toEqual(['chunk 0', 'chunk 0', 'chunk 0', 'chunk 1']);
    world.stopping.abort();
    expect(await endsWithin(8_000)).toEqual({ type: 'stopped' });
  });

  it.each([
    ['stopped by Ctrl-C', { type: 'stopped' }],
    ['cancelled', { type: 'cancelled' }],
  ])('ends a paused run when it is %s', async (_how, end) => {
    const { world, endsWithin } = await beginAsleep({}, { shown: PAUSED });
    if (end.type === 'stopped') world.stopping.abort();
    else world.shown = { isCancelled: true, isPaused: false, isPausedAlone: false };
    expect(await endsWithin(8_000)).toEqual(end);
    expect(world.seen).toEqual(['chunk 0', end]);
  });

  it('keeps a halt that comes while the run is paused until it is resumed', async () => {
    const { world, endsWithin } = await beginAsleep({}, { shown: PAUSED });
    world.shown = { ...PAUSED, halt: CREDENTIALS };
    expect(await endsWithin(60_000)).toBeNull();
    world.shown = { halt: CREDENTIALS };
    expect(await endsWithin(8_000)).toEqual(REFUSED);
  });

  it('with an empty queue has the chunks queued again, three times in all', async () => {
    const { world, endsWithin } = await beginAsleep({}, { workers: 'lose' });
    expect(await endsWithin(169_000)).toBeNull();
    expect(await endsWithin(20_000)).toEqual({ type: 'halted', halt: HALTS.lost });
    expect(world.seen.filter((each) => each !== 'silence')).toEqual(['chunk 0', 'chunk 1', 'chunk 2']);
  });

  it('with an empty queue ends nothing when the chunks are answered the second time', async () => {
    const { world, endsWithin } = await beginAsleep({}, { workers: 'lose' });
    await world.clock.advance(29_000);
    world.workers = 'answer';
    // The second time waits for nothing that was lost.
    expect(await endsWithin(33_000)).toEqual({ type: 'finished' });
    expect(world.seen.filter((each) => each !== 'silence')).toEqual(['chunk 0', 'chunk 1']);
  });
});
