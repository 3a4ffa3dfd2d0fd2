/**
 * A process that reads one workbook, Parquet file or archive for another one, which started it and
 * limits its memory and time: see `input/reader/`. Descriptor 3 is the file; it knows nothing
 * else.
 */
import { Socket } from 'node:net';
import { createAnswers } from './input/reader/answer-requests.js';

const answer = createAnswers();
const replies = new Socket({ fd: 1, readable: false, writable: true });
let working = Promise.resolve();
let rest = '';

process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    working = working.then(async () => {
      const reply = await answer(JSON.parse(line));
      await new Promise((resolve) => replies.write(reply, resolve));
    });
  }
});

// Without the process that asks there is nothing to do.
process.stdin.on('close', () => process.exit());
replies.on('error', () => process.exit());
// These are meant for that process, which ends this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The answer says what was wrong; reads beside it that fail too are not awaited.
process.on('unhandledRejection', () => undefined);
