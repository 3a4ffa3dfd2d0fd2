/**
 * A process that reads one workbook, Parquet file or archive for another one, which started it and
 * limits its memory and time: see `input/reader/`. Descriptor 3 is the file; it knows nothing
 * else.
 */
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { answerPass } from './input/reader/answer-pass.js';

const replies = new Socket({ fd: 1, readable: false, writable: true });
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    for await (const reply of answerPass(JSON.parse(line)))
      await new Promise((resolve) => replies.write(`${JSON.stringify(reply)}\n`, resolve));
  })
  // Without the process that asks there is nothing to do.
  .on('close', () => process.exit());
replies.on('error', () => process.exit());
// These are meant for that process, which ends this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The answer says what was wrong; reads beside it that fail too are not awaited.
process.on('unhandledRejection', () => undefined);
