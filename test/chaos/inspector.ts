/** Looks into a running process from outside, with Node's inspector. */
import { WebSocket } from 'undici';
import type { CliProcess } from '../support/cli.js';

/** Environment of a process that can be looked into. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const PROTOTYPES = [
  "process.getBuiltinModule('node:events').EventEmitter.prototype",
  'EventTarget.prototype',
];
/** `this`: all living objects of one prototype. */
const COUNT = `function () {
  const { getEventListeners } = process.getBuiltinModule('node:events');
  const namesOf = (each) => typeof each.eventNames === 'function' ? each.eventNames() : ['abort', 'message', 'error'];
  let count = 0;
  for (const each of this) {
    try {
      for (const name of namesOf(each)) count += getEventListeners(each, name).length;
    } catch {}
  }
  return count;
}`;

interface Answer {
  readonly id: number;
  readonly result?: {
    readonly result?: { readonly objectId?: string; readonly value?: unknown };
    readonly objects?: { readonly objectId: string };
    readonly usedSize?: number;
  };
  readonly error?: { readonly message: string };
}

/** Listeners of all event emitters and targets, and bytes of the heap, after a collection. */
export async function lookInto({ said }: CliProcess): Promise<{ listeners: number; heapBytes: number }> {
  const url = /Debugger listening on (ws:\S+)/.exec(said)?.[1];
  if (url === undefined) throw new Error(`no inspector in: ${said}`);
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let serial = 0;
  const call = (method: string, params: object) =>
    new Promise<NonNullable<Answer['result']>>((resolve, reject) => {
      serial += 1;
      const id = serial;
      const onMessage = ({ data }: { data: unknown }) => {
        const { id: answered, result, error } = JSON.parse(String(data)) as Answer;
        if (answered !== id) return;
        socket.removeEventListener('message', onMessage);
        result ? resolve(result) : reject(new Error(error?.message));
      };
      socket.addEventListener('message', onMessage);
      socket.send(JSON.stringify({ id, method, params }));
    });
  try {
    let listeners = 0;
    for (const expression of PROTOTYPES) {
      const objectGroup = 'counted';
      const { result: prototype } = await call('Runtime.evaluate', { expression, objectGroup });
      const prototypeObjectId = prototype?.objectId;
      const { objects } = await call('Runtime.queryObjects', { prototypeObjectId, objectGroup });
      const asked = { objectId: objects?.objectId, functionDeclaration: COUNT, returnByValue: true };
      const { result: counted } = await call('Runtime.callFunctionOn', asked);
      listeners += Number(counted?.value);
      await call('Runtime.releaseObjectGroup', { objectGroup });
    }
    // The first one leaves what the queries above needed.
    await call('HeapProfiler.collectGarbage', {});
    await call('HeapProfiler.collectGarbage', {});
    const { usedSize: heapBytes = 0 } = await call('Runtime.getHeapUsage', {});
    return { listeners, heapBytes };
  } finally {
    socket.close();
  }
}
