/**
 * One owner for a folder: the process whose socket in it says that it holds the folder. The kernel closes the
 * socket of a killed process, so nothing has to be cleaned up by hand.
 *
 * A starter listens first and looks around afterwards, so of two starters at least one sees the other:
 *
 * - *candidate*: asks every other socket in the folder. A holder refuses it. A candidate with a higher name gives
 *   way and looks around again; one with a lower name is waited for. Who is given way by all, and gave way to nobody
 *   since it looked around, becomes the holder, in the same turn of its event loop.
 * - *holder*: refuses every candidate, and answers the requests of other processes, until it lets go.
 *
 * Somebody who listens and does not answer counts as a holder. The lock guards one machine: a folder on a network
 * file system is not guarded against other machines.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type ErrorDetail, errorText, FailFileError } from '../../errors.js';
import type { Holder } from '../guests.js';
import type { LockSocket } from './lock-socket.js';
import { askLockSocket, listLockSockets, openLockSocket } from './lock-socket.js';

const CANDIDATE_DEADLINE_MS = 2_000;
const REQUEST_DEADLINE_MS = 30_000;
const LOOK_AGAIN_MS = 25;
/** A holder that opens its engine takes seconds. */
const OPENING_LOOK_MS = 100;
/** Candidates settle within a few looks; one that hangs is waited for no longer than this. */
const SETTLE_DEADLINE_MS = 10_000;

export type RequestHandler = (request: unknown) => unknown | Promise<unknown>;

export interface FolderLock {
  /** Answers the requests of {@link askFolderHolder}; until there is a handler they wait. */
  onRequest(handler: RequestHandler): void;
  release(): Promise<void>;
}

type Question =
  | { readonly type: 'candidate'; readonly name: string }
  | { readonly type: 'request'; readonly request: unknown };
type Answer =
  | { readonly type: 'held'; readonly by: Holder }
  | { readonly type: 'gives-way' }
  | { readonly type: 'stays' }
  | { readonly type: 'opening' }
  | { readonly type: 'answered'; readonly answer: unknown }
  | { readonly type: 'failed'; readonly message: string; readonly failure: ErrorDetail | null };

/** Throws {@link FailFileError} `engine-held` when another process has the folder, or another engine of this one. */
export async function lockFolder(folder: string, self: Holder): Promise<FolderLock> {
  let isHolder = false;
  let hasGivenWay = false;
  let ownName = '';
  let handler: RequestHandler | null = null;

  const reply = async (question: Question): Promise<Answer> => {
    if (question.type === 'candidate') {
      if (isHolder) return { type: 'held', by: self };
      // Before it has a name nobody knows it.
      if (question.name > ownName) return { type: 'stays' };
      hasGivenWay = true;
      return { type: 'gives-way' };
    }
    if (!isHolder || handler === null) return { type: 'opening' };
    try {
      return { type: 'answered', answer: (await handler(question.request)) ?? null };
    } catch (error) {
      return { type: 'failed', message: errorText(error), failure: failureOf(error) };
    }
  };
  const socket = await openLockSocket(folder, (question) => reply(question as Question));
  ownName = socket.name;
  try {
    const giveUpAt = performance.now() + SETTLE_DEADLINE_MS;
    for (;;) {
      hasGivenWay = false;
      const mustWait = await isAnyoneBefore(folder, socket);
      if (!mustWait && !hasGivenWay) break;
      if (performance.now() > giveUpAt) throw heldError(folder, null);
      await wait(LOOK_AGAIN_MS);
    }
    isHolder = true;
  } catch (error) {
    await socket.close();
    throw error;
  }
  return {
    onRequest(newHandler) {
      handler = newHandler;
    },
    release: () => socket.close(),
  };
}

/** Whether a candidate has to be waited for. Throws when there is a holder. */
async function isAnyoneBefore(folder: string, socket: LockSocket): Promise<boolean> {
  const others = (await listLockSockets(folder)).filter((name) => name !== socket.name);
  const question: Question = { type: 'candidate', name: socket.name };
  const replies = await Promise.all(
    others.map((name) => askLockSocket(folder, name, question, CANDIDATE_DEADLINE_MS)),
  );
  let mustWait = false;
  for (const reply of replies) {
    if (reply.type === 'silent') throw heldError(folder, null);
    if (reply.type === 'cut') mustWait = true;
    if (reply.type !== 'answer') continue;
    const answer = reply.value as Answer;
    if (answer.type === 'held') throw heldError(folder, answer.by);
    if (answer.type !== 'gives-way') mustWait = true;
  }
  return mustWait;
}

/**
 * Asks the process that holds the folder, or is about to. null when nobody does. Throws {@link FailFileError} `engine-held` when
 * the holder does not answer, and what its handler threw: a {@link FailFileError} as it was, else a plain `Error`.
 */
export async function askFolderHolder(folder: string, request: unknown): Promise<unknown | null> {
  const question: Question = { type: 'request', request };
  const giveUpAt = performance.now() + REQUEST_DEADLINE_MS;
  for (;;) {
    let isOpening = false;
    for (const name of await listLockSockets(folder)) {
      const reply = await askLockSocket(folder, name, question, REQUEST_DEADLINE_MS);
      if (reply.type === 'silent') throw heldError(folder, null);
      if (reply.type !== 'answer') continue;
      const answer = reply.value as Answer;
      if (answer.type === 'answered') return answer.answer;
      if (answer.type === 'failed') throw failureAgain(answer);
      if (answer.type === 'opening') isOpening = true;
    }
    if (!isOpening) return null;
    if (performance.now() > giveUpAt) throw heldError(folder, null);
    await wait(OPENING_LOOK_MS);
  }
}

/** What of an error arrives at the other side as it was. */
function failureOf(error: unknown): ErrorDetail | null {
  if (!(error instanceof FailFileError)) return null;
  const { code, subject, todo, message } = error;
  return { code, subject, todo, what: message.slice(0, -`: ${subject}; ${todo}`.length) };
}

function failureAgain({ message, failure }: Extract<Answer, { type: 'failed' }>): Error {
  return failure === null ? new Error(message) : new FailFileError(failure);
}

function heldError(folder: string, by: Holder | null): FailFileError {
  const who =
    by === null ? 'a process that does not answer' : `process ${by.pid} (${by.command}) since ${by.since}`;
  return new FailFileError({
    code: 'engine-held',
    what: `the state folder is held by ${who}`,
    subject: folder,
    todo: 'wait for it to end, name another folder with --state, or use --engine redis://... which many processes can share',
  });
}
