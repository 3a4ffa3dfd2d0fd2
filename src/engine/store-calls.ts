/**
 * Calls to an engine's stores as messages, so that a second process can use the stores of the one that holds the
 * embedded engine: to look, to give orders, and to run a file whose lookups the holder does. Only methods that are named here can
 * be called; those that take permits, claim or record are not among them. The other side is `store-proxies.ts`.
 */
import { FailFileError } from '../errors.js';
import type { StoredOutcome } from '../outcomes/store.js';
import type { ChunkLine, Engine } from './engine.js';
import { packValue } from './wire-values.js';

export const CALLABLE = {
  ledger: ['show', 'open', 'observe', 'reset', 'setPaused'],
  outcomes: ['read', 'stats', 'forget', 'purge'],
  runs: [
    'start',
    'get',
    'list',
    'beat',
    'setSize',
    'addTally',
    'finishChunk',
    'failures',
    'clearHalt',
    'end',
    'cancel',
  ],
  notes: ['put', 'list', 'remove', 'claim'],
  ticks: ['list', 'set', 'remove', 'addNow'],
  guests: ['answer'],
} as const;
/** Of the line whose name is the first argument. */
export const LINE_METHODS = ['add', 'listOf', 'listIdle', 'withdraw', 'counts'] as const;

export type CallableStore = keyof typeof CALLABLE;

export interface StoreCall {
  readonly store: CallableStore | 'line';
  readonly method: string;
  readonly args: readonly unknown[];
}

/** What a call gave; never null itself, because that means that nobody answered. */
export interface StoreReply {
  readonly value: unknown;
}

export interface StoreAnswers {
  /** Answers a {@link StoreCall}. Throws what the store throws, and a plain error for anything else. */
  answer(message: unknown): Promise<StoreReply>;
  close(): Promise<void>;
}

/** Outcomes of one answer, in bytes as they are packed; what is beyond is asked for again. */
const OUTCOME_BYTES = 1_048_576;

export function createStoreAnswers(engine: Engine): StoreAnswers {
  const lines = new Map<string, ChunkLine>();
  let isClosed = false;

  function lineOf(name: string): ChunkLine {
    const line = lines.get(name) ?? engine.openLine(name);
    lines.set(name, line);
    return line;
  }

  async function call({ store, method, args }: StoreCall): Promise<unknown> {
    const known: readonly string[] | undefined = store === 'line' ? LINE_METHODS : CALLABLE[store];
    if (!known?.includes(method)) {
      throw new Error('the process that holds the state folder does not know this request');
    }
    const target = store === 'line' ? lineOf(String(args[0])) : engine[store];
    const given = store === 'line' ? args.slice(1) : args;
    const value = await (target as unknown as Methods)[method]?.(...given);
    const isRead = store === 'outcomes' && method === 'read';
    return isRead ? firstBytes(value as (StoredOutcome | null)[]) : value;
  }

  return {
    async answer(message) {
      if (isClosed) throw ending(engine.address);
      try {
        return { value: packValue(await call(message as StoreCall)) };
      } catch (error) {
        // What was under way fails in one way or another.
        throw isClosed ? ending(engine.address) : error;
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...lines.values()].map((line) => line.close().catch(() => undefined)));
    },
  };
}

function ending(subject: string): FailFileError {
  return new FailFileError({
    code: 'engine-unreachable',
    what: 'the process that has the state folder open is ending',
    subject,
    todo: 'run the same command again when it is back, or without it: what was paid for is kept',
  });
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

/** The first of them, at least one, as far as they fit one answer. */
function firstBytes(outcomes: readonly (StoredOutcome | null)[]): readonly (StoredOutcome | null)[] {
  let bytes = 0;
  const end = outcomes.findIndex((outcome, at) => {
    bytes += outcome?.packed?.length ?? 0;
    return at > 0 && bytes > OUTCOME_BYTES;
  });
  return end < 0 ? outcomes : outcomes.slice(0, end);
}
