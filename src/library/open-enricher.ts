/** Opens what the lookups of a program or an agent need, and closes it. */
import { setMaxListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { accountDocument, readOwnAccount } from '../app/account-status.js';
import { logOpened, openContext, openLookupWorker, openStateFolder } from '../app/open-context.js';
import { ConfigError, InterruptedError } from '../core/errors.js';
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { keepRunning, type Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { outcomeKeys } from '../engine/stores/outcome-key.js';
import { openingPace } from '../ledger/pace.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { assertOptions } from '../settings/load-settings.js';
import { readToken } from '../settings/secrets.js';
import type { Settings } from '../settings/settings.js';
import { enrichRows, findBrand, holdUnmatched } from './enrich-rows.js';
import type {
  Candidates,
  Enriched,
  Enricher,
  EnricherOptions,
  EnrichOptions,
  FileOptions,
} from './enricher.js';
import { type FileHooks, planOneFile, runOneFile } from './file-run.js';
import { type Ask, createLookups } from './lookups.js';
import { createProgramRuns } from './program-runs.js';
import { createWaiters, forProgram } from './waiters.js';

/** What an enricher is opened with. */
export interface EnricherFrame {
  readonly settings: Settings;
  /** Returns the settings of a file, with the same service, token and account. */
  readonly settingsOf: (input: string, file: FileOptions) => Settings;
  readonly log: Log;
  /** See `EnricherOptions`. */
  readonly name: string | null;
  readonly dispatcher?: EnricherOptions['dispatcher'];
  readonly signal?: EnricherOptions['signal'];
  /** Owner of the runs, which then share caps that begin anew each day. Default: nobody. */
  readonly owner?: string | null;
}

export type OpenedEnricher = Awaited<ReturnType<typeof openEnricher>>;

/** Opens an enricher; closing it runs the releasers. Throws as `createEnricher` does. */
export async function openEnricher(
  { settings: loaded, settingsOf, log, name, owner = null, dispatcher, signal }: EnricherFrame,
  releasers: Releasers,
) {
  // Read once, so that files use the account that was opened. A program serves its own metrics.
  const settings = { ...loaded, token: readToken(loaded), tokenFile: null, metricsPort: null };
  if (dispatcher !== undefined && typeof dispatcher.dispatch !== 'function')
    throw unusable('dispatcher', "undici's Agent, ProxyAgent or MockAgent");
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  signal?.throwIfAborted();
  const onAbort = () => closing.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  releasers.push(() => signal?.removeEventListener('abort', onAbort));
  const graceMs = (timeoutMs: number) => timeoutMs;
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const command = { ...streams, log, stop: closing.signal, graceMs };
  const state = { stateFolder: await openStateFolder(settings, releasers) };
  const context = await openContext(settings, state, command, releasers, { dispatcher });
  const { engine, service, stateFolder, clock } = context;
  logOpened(context, settings.sample, log);
  const waiters = createWaiters();
  const worker = openLookupWorker(
    { engine, service, settings, stateFolder, log, takesChunks: false },
    waiters.listener,
  );
  releasers.push(() => worker.stop(settings.timeoutMs));
  await worker.start();
  const runSettings = runSettingsOf(settings, service);
  const runs = createProgramRuns({
    engine,
    worker,
    clock,
    log,
    stateFolder,
    name,
    owner,
    settings: runSettings,
    pace: openingPace(settings.rate, service.isLoopback),
    storeTime: (await engine.ledger.show(service.account)).now,
  });
  const keyOf = outcomeKeys(service.service, settings.allowNsfw);
  const waitsAtLimit = settings.onLimit === 'wait';
  const parts = { engine, worker, waiters, runs, keyOf, waitsAtLimit, clock, log, closing: closing.signal };
  const lookups = createLookups(parts);
  const files = new Set<Promise<unknown>>();
  const askers = new WeakMap<AbortSignal, Ask>();

  function askUntil(signal = closing.signal): Ask {
    const ask = askers.get(signal) ?? lookups.open(signal);
    askers.set(signal, ask);
    return ask;
  }

  const judgedAs = (kind = settings.kind ?? 'auto') => {
    if (!IDENTIFIER_KINDS.includes(kind)) throw unusable('kind', `one of ${IDENTIFIER_KINDS.join(', ')}`);
    return { kind, waterfall: settings.waterfall };
  };

  async function* enrich<Row>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options: EnrichOptions<Row> = {},
  ): AsyncGenerator<Enriched<Row>, void, undefined> {
    const { identifier, kind, signal, lookAhead = settings.concurrency * 2 } = options;
    assertOptions(options, ['identifier', 'kind', 'signal', 'lookAhead']);
    // A text is iterable, too: its characters would be looked up and paid for.
    if (typeof rows === 'string') throw unusable('rows', 'a list of texts, not one');
    if (!Number.isInteger(lookAhead) || lookAhead < 1)
      throw unusable('lookAhead', 'a whole number of 1 or more');
    const judged = judgedAs(kind);
    const { stop, leave } = follow(signal, closing.signal);
    const ask = holdUnmatched(lookups.open(stop), settings.minMatch);
    const candidatesOf = identifier ?? ((row: Row) => row as Candidates);
    const find = async (row: Row) => findBrand(row, candidatesOf, judged, ask);
    yield* enrichRows(rows, find, lookAhead, stop, leave);
  }

  /** Works on a file until it ends, its signal is aborted, or the enricher is closed. */
  async function withFile<Result>(
    path: string,
    file: FileOptions,
    work: (settings: Settings, stop: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    closing.signal.throwIfAborted();
    const { stop, leave } = follow(file.signal, closing.signal);
    const working = (async () => work(settingsOf(path, file), stop))();
    files.add(working);
    try {
      return await keepRunning(working);
    } catch (error) {
      throw forProgram(error, stop);
    } finally {
      leave();
      files.delete(working);
    }
  }

  const runFile = (path: string, file: FileOptions, hooks: FileHooks = {}) =>
    withFile(path, file, (ofFile, stop) => {
      const own = { ...hooks, ...(owner !== null && { key: runs.key() }) };
      return runOneFile(path, ofFile, { ...context, stop, dispatcher }, settings.token, file.onProgress, own);
    });

  let closed: Promise<void> | null = null;
  async function end(): Promise<void> {
    const isWhole = lookups.underWay === 0;
    closing.abort(new InterruptedError(CLOSED));
    await Promise.allSettled(files);
    await worker.stop(settings.timeoutMs);
    await lookups.ended();
    await runs.close(isWhole);
    await releasers.releaseAll();
  }
  const close = () => (closed ??= keepRunning(end()));
  closing.signal.throwIfAborted();
  closing.signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true });

  const enricher: Enricher = {
    async lookup(identifier, options = {}) {
      const { kind, signal } = options;
      assertOptions(options, ['kind', 'signal']);
      const judged = judgedAs(kind);
      signal?.throwIfAborted();
      return findBrand(identifier, (each) => each, judged, askUntil(signal));
    },
    enrich,
    runFile: (path, file = {}) => runFile(path, file),
    plan: (path, file = {}) =>
      withFile(path, file, (ofFile, stop) => planOneFile(path, ofFile, { ...context, stop })),
    async account() {
      closing.signal.throwIfAborted();
      return accountDocument(service.account, await readOwnAccount(engine, service.account, settings));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return { enricher, engine, service, runFile, capsKey: runs.key };
}

const CLOSED = {
  code: 'interrupted',
  what: 'the enricher was closed',
  subject: 'close()',
  todo: 'create a new one to continue: every paid answer is stored',
} as const;

/** Returns a signal that the caller's signal, `closing` or `leave` aborts. */
function follow(signal: AbortSignal | undefined, closing: AbortSignal) {
  const stopping = new AbortController();
  // `AbortSignal.any` would let Node collect a time-out, and would keep each call in memory.
  const followed = signal === undefined ? [closing] : [signal, closing];
  const onAbort = () => stopping.abort(followed.find(({ aborted }) => aborted)?.reason);
  for (const each of followed) each.addEventListener('abort', onAbort, { once: true });
  if (followed.some(({ aborted }) => aborted)) onAbort();
  const leave = () => {
    for (const each of followed) each.removeEventListener('abort', onAbort);
    stopping.abort();
  };
  return { stop: stopping.signal, leave };
}

function unusable(option: string, write: string): ConfigError {
  const what = 'this option cannot have this value';
  return new ConfigError({ code: 'usage-invalid', what, subject: option, todo: `write ${write}` });
}
